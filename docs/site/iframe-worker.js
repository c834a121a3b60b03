// Pages that are opened as files may not start a worker, which the search box needs: there it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      // The worker's window is itself, and what it posts goes to its owner.
      this.ready = new Promise((resolve) => {
        frame.onload = () => {
          const scope = frame.contentWindow;
          scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = frame.contentDocument.createElement("script");
          script.src = url;
          script.onload = () => resolve(scope);
          frame.contentDocument.body.append(script);
        };
      });
      document.body.append(frame);
    }
    postMessage(data) {
      this.ready.then((scope) => scope.dispatchEvent(new scope.MessageEvent("message", { data })));
    }
  };
}
