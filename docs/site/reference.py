"""The reference pages of the site, made from what they describe.

That is the public headers, the Python package, and the help of the program `hilo`.
"""

import ast
import pathlib
import re
import subprocess


def text_to_markdown(text):
    """Plain text of a comment or a docstring: paragraphs, code where lines are indented or in backticks, lists."""
    out = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.split("\n")
        while lines:
            code = [line for line in _leading(lines, lambda line: re.match(r" {2,}\S", line))]
            prose = [line for line in _leading(lines[len(code) :], lambda line: not re.match(r" {2,}\S", line))]
            lines = lines[len(code) + len(prose) :]
            if code:
                indent = min(len(line) - len(line.lstrip()) for line in code)
                out.append("```text\n" + "\n".join(line[indent:] for line in code) + "\n```")
            if prose:
                out.append(_escape("\n".join(prose)))
    return "\n\n".join(out)


def _leading(lines, test):
    for line in lines:
        if not test(line):
            return
        yield line


def _escape(prose):
    """Markdown's special characters outside of code."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", prose)
    return "".join(
        f"`{part.strip('`')}`" if part.startswith("`") else re.sub(r"([<*_\[\]#|])", r"\\\1", part) for part in parts
    )


# --- C and C++ ---

_SECTION = re.compile(r"^(?://|/\*) --- (.*) ---(?: \*/)?$")


def _comment_lines(lines):
    """How many lines a comment at the start of `lines` has, and its text."""
    if lines[0].lstrip().startswith("//"):
        count = len(list(_leading(lines, lambda line: line.lstrip().startswith("//"))))
        return count, "\n".join(re.sub(r"^\s*// ?", "", line) for line in lines[:count])
    count = 1 + next(i for i, line in enumerate(lines) if "*/" in line)
    text = "\n".join(re.sub(r"^\s*(?:/\*+ ?|\* ?)", "", line) for line in lines[:count])
    return count, re.sub(r"\s*\*/\s*$", "", text)


def _declaration_lines(lines):
    """How many lines the declaration at the start of `lines` has."""
    if lines[0].lstrip().startswith("#"):
        return 1 + len(list(_leading(lines, lambda line: line.endswith("\\"))))
    depth, end = 0, 0
    for end, line in enumerate(lines):
        code = re.sub(r'//.*|/\*.*?\*/|"[^"]*"|\'.\'', "", line)
        depth += code.count("{") + code.count("(") - code.count("}") - code.count(")")
        if depth <= 0 and re.search(r"[;}]\s*$", code):
            break
    return end + 1


def _without_bodies(declaration):
    """A declaration as its readers want it: no private part, no bodies of functions, no marks of export."""
    declaration = re.sub(r"\bHILO_EXPORT ", "", declaration)
    declaration = re.sub(r"\n private:\n.*?(?=\n\};)", "", declaration, flags=re.DOTALL)
    out, at = [], 0
    # A comment, which stays; or the end of a signature, perhaps initializers, and the brace that begins the body.
    head = re.compile(r"//[^\n]*|/\*.*?\*/|(\)(?: const)?(?: noexcept)?)(?:\s*:\s[^;{]*?[)}])?\s*\{", re.DOTALL)
    while match := head.search(declaration, at):
        if match.group(1) is None:
            out.append(declaration[at : match.end()])
            at = match.end()
            continue
        depth, end = 1, match.end()
        while depth and end < len(declaration):
            depth += {"{": 1, "}": -1}.get(declaration[end], 0)
            end += 1
        out.append(declaration[at : match.start()] + match.group(1) + ";")
        at = end
    return re.sub(r"\n+(?=\};?$)", "\n", "".join(out) + declaration[at:])


def _name(declaration):
    """What a declaration declares, or an empty string where that is not of interest."""
    code = re.sub(r"^\s*(?://.*|/\*.*?\*/)$|^template <.*>$", "", declaration, flags=re.MULTILINE)
    if match := re.match(r"\s*#define (\w+)", code):
        return match.group(1)
    if match := re.match(r"\s*(?:typedef )?(?:class|struct|enum(?: class)?|union) (?:HILO_EXPORT )?(\w+)", code):
        return match.group(1)
    if match := re.match(r"\s*using (\w+)", code):
        return match.group(1)
    if match := re.search(r"typedef .*?(\w+)\s*(?:;|\()", code, re.DOTALL):
        return match.group(1)
    if match := re.search(r"([\w~]+(?:[=!<>]=|<<)?|operator\S+)\s*\(", code):
        return match.group(1)
    match = re.search(r"(\w+)\s*(?:=.*)?;", code, re.DOTALL)
    return match.group(1) if match else ""


def _is_noise(line):
    return bool(
        re.match(
            r"#(?!define HILO_)|namespace |\}  // namespace|extern \"C\"|\} /\* extern|\}$"
            r"|(?:class|struct) \w+;$|typedef struct \w+ \w+;$|template class ",
            line,
        )
    ) or line.startswith("#undef")


def _groups(lines):
    """What lines of declarations hold, in order.

    Yields ("section", title), ("prose", text), or ("group", comment, the declarations that it describes).
    """
    at, group, comment = 0, [], ""
    while at < len(lines):
        line = lines[at]
        section = _SECTION.match(line)
        is_comment = line.lstrip().startswith(("//", "/*"))
        if group and (section or is_comment or not line.strip()):
            yield "group", comment, group
            group, comment = [], ""
        if not line.strip():
            comment = ""
            at += 1
        elif section:
            yield "section", section.group(1)[0].upper() + section.group(1)[1:]
            at += 1
        elif is_comment:
            count, comment = _comment_lines(lines[at:])
            at += count
            following = lines[at] if at < len(lines) else ""
            if not following.strip() or _is_noise(following):
                if not following.strip():
                    yield "prose", comment
                comment = ""
        elif _is_noise(line) or re.match(r"#define HILO_\w+_H_$", line):
            at += 1
        else:
            count = _declaration_lines(lines[at:])
            group.append("\n".join(lines[at : at + count]))
            at += count
    if group:
        yield "group", comment, group


def _code(declarations):
    return "```c++\n" + "\n".join(map(_without_bodies, declarations)) + "\n```"


def _members(declaration):
    """A long class or struct member by member, each with what its comment says; a short one as it is."""
    lines = _without_bodies(declaration).split("\n")
    if not re.match(r"(?:class|struct) ", lines[0]) or (len(lines) <= 24 and max(map(len, lines)) <= 84):
        return [_code([declaration])]
    body = [line.removeprefix("  ") for line in lines[1:-1] if not re.match(r" ?(?:public|protected):", line)]
    out = [f"```c++\n{lines[0].removesuffix('{').rstrip()}\n```"]
    for kind, *what in _groups(body):
        if kind == "group":
            out.append(
                '<div class="member" markdown>\n\n' + _code(what[1]) + "\n\n" + text_to_markdown(what[0]) + "\n\n</div>"
            )
        else:
            out.append(text_to_markdown(what[0]))
    return out


def header_page(path, root):
    """The page of one public header."""
    lines = path.read_text().split("\n")
    count, essay = _comment_lines(lines)
    name = path.relative_to(root).as_posix()
    page = [f"# {name}", text_to_markdown(essay), f'```c++\n#include "{name}"\n```']
    handles = [match.group(1) for line in lines if (match := re.match(r"typedef struct (\w+) \1;", line))]
    if handles:
        page.append("Opaque handles: " + ", ".join(f"`{handle}`" for handle in handles) + ".")
    level = "###" if any(map(_SECTION.match, lines)) else "##"
    for kind, *what in _groups(lines[count:]):
        if kind == "section":
            page.append(f"## {what[0]}")
        elif kind == "prose":
            page.append(text_to_markdown(what[0]))
        else:
            comment, group = what
            names = list(dict.fromkeys(filter(None, map(_name, group))))
            if names:
                page.append(
                    f"{level} " + ", ".join(f"`{one}`" for one in names[:4]) + (" and more" if len(names) > 4 else "")
                )
            page.append(text_to_markdown(comment))
            page += _members(group[0]) if len(group) == 1 else [_code(group)]
    return "\n\n".join(filter(None, page)) + "\n"


# --- Python ---


def python_page(package):
    """The page of the package hilo: signatures of its .pyi, docstrings of its sources."""
    stubs = ast.parse((package / "__init__.pyi").read_text())
    docs, module_doc = {}, ""
    for source in ("__init__.py", "_arrays.py"):
        tree = ast.parse((package / source).read_text())
        module_doc = module_doc or ast.get_docstring(tree)
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                docs[node.name] = ast.get_docstring(node)
                for member in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []:
                    if isinstance(member, ast.FunctionDef):
                        docs[f"{node.name}.{member.name}"] = ast.get_docstring(member)
            elif (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Attribute)
                and node.targets[0].attr == "__doc__"
                and isinstance(node.value, ast.Constant)
            ):
                docs[ast.unparse(node.targets[0].value)] = node.value.value
    for source in (package / "native").glob("*.c"):  # {"name", ..., "docstring"} in tables of getters and methods
        for name, doc in re.findall(r'\{"(\w+)",[^"{}]*"([^"]+)"', source.read_text()):
            docs.setdefault(f"{source.stem.capitalize()}.{name}", doc)

    def signature(node, drop_self):
        text = ast.unparse(node).removesuffix(": ...").removeprefix("@property\n")
        if drop_self:
            text = re.sub(r"\((?:self|cls)(?:, )?", "(", text, count=1)
        return text.removesuffix("...").rstrip().removesuffix(":")

    page = ["# Python: `hilo`", text_to_markdown(module_doc or "")]
    for node in stubs.body:
        if isinstance(node, ast.FunctionDef):
            page += [
                f"## `{node.name}`",
                f"```python\n{signature(node, False)}\n```",
                text_to_markdown(docs.get(node.name) or ""),
            ]
        elif isinstance(node, ast.ClassDef):
            page += [f"## `{node.name}`", text_to_markdown(docs.get(node.name) or "")]
            fields = [ast.unparse(member) for member in node.body if isinstance(member, ast.AnnAssign)]
            if fields:
                page.append("```python\n" + "\n".join(fields) + "\n```")
            for member in (one for one in node.body if isinstance(one, ast.FunctionDef)):
                doc = docs.get(f"{node.name}.{member.name}")
                if member.name.startswith("_") and member.name not in ("__new__", "__call__"):
                    continue
                title = node.name if member.name == "__new__" else f"{node.name}.{member.name}"
                page += [
                    f"### `{title}`",
                    f"```python\n{signature(member, True)}\n```".replace("def __new__", f"def {node.name}"),
                    text_to_markdown(doc or ""),
                ]
    return "\n\n".join(filter(None, page)) + "\n"


# --- commands ---


def _cell(text):
    return _escape(text).replace("\\|", "|").replace("|", "\\|")


def _help_to_markdown(text):
    usage, *paragraphs = re.split(r"\n\n", text.strip("\n"))
    command, _, purpose = usage.removeprefix("Usage: ").partition(": ")
    out = [purpose[:1].upper() + purpose[1:] + "." if purpose else "", f"```text\n{command}\n```"]
    for paragraph in paragraphs:
        # What a flag does may go on below, in the same column.
        lines = re.sub(r"(?<=\S)\n {26}(?=\S)", " ", paragraph).split("\n")
        if all(re.match(r"  -", line) for line in lines):
            rows = [re.match(r"  (\S+(?: \S+)*?)(?:  +| )((?<=  ).*|$)", line) for line in lines]
            rows = [
                (match.group(1), match.group(2)) if match else (line.strip(), "") for match, line in zip(rows, lines)
            ]
            out.append("| flag | |\n|---|---|\n" + "\n".join(f"| `{flag}` | {_cell(what)} |" for flag, what in rows))
        elif lines[0] == "Examples:":
            out.append("```sh\n" + "\n".join(line.strip() for line in lines[1:]) + "\n```")
        else:
            out.append(_escape(paragraph))
    return "\n\n".join(filter(None, out))


def commands_page(hilo):
    """The page of the commands, from what `hilo --help` and `hilo COMMAND --help` print."""

    def ask(*arguments):
        return subprocess.run([hilo, *arguments, "--help"], capture_output=True, text=True, check=True).stdout

    overview = ask()
    commands = re.findall(r"^  (\w+)(?: [^ ].*?)?  +(.*)$", overview, re.MULTILINE)
    page = [
        "# Commands",
        "Every command of the program `hilo`, with its flags, as `hilo COMMAND --help` prints them. "
        "[Commands that look into programs](../commands.md) "
        "says which of them answers which question.",
        "| command | |\n|---|---|\n"
        + "\n".join(f"| [`hilo {name}`](#hilo-{name}) | {_cell(what)} |" for name, what in commands),
    ]
    for name, _ in commands:
        page += [f"## `hilo {name}`", _help_to_markdown(ask(name))]
    return "\n\n".join(page) + "\n"


def write_reference(root, hilo, folder):
    """Writes all reference pages below `folder`."""
    (folder / "cpp").mkdir(parents=True, exist_ok=True)
    headers = sorted((root / "include" / "hilo").glob("*.h"))
    index = [
        "# C++ API",
        "The public headers, each on a page of its own, made from the headers themselves. "
        "[The C++ and C interfaces](../../api.md) says what is promised "
        "about them, and the [C++ tutorial](../../tutorials/cpp.md) uses them.",
        "| header | |\n|---|---|",
    ]
    for header in headers:
        (folder / "cpp" / f"{header.stem}.md").write_text(header_page(header, root / "include"))
        first = text_to_markdown(
            re.split(r"\n|(?<=[.:]) ", _comment_lines(header.read_text().split("\n"))[1])[0].rstrip(":")
        )
        index[-1] += f"\n| [hilo/{header.name}]({header.stem}.md) | {first} |"
    (folder / "cpp" / "index.md").write_text("\n\n".join(index) + "\n")
    (folder / "c.md").write_text(header_page(root / "include" / "hilo-c" / "hilo.h", root / "include"))
    (folder / "python.md").write_text(python_page(root / "python" / "hilo"))
    (folder / "commands.md").write_text(commands_page(hilo))
