"""Programs of several tests of `hilo launch`."""

# Four replicas sum until they are ended.
FOREVER = """
HloModule forever, replica_count=4
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
body { n = s32[] parameter(0)  ROOT sum = s32[] all-reduce(n), replica_groups={}, to_apply=add }
condition { n = s32[] parameter(0)  ROOT more = pred[] constant(true) }
ENTRY main { n = s32[] parameter(0)  ROOT w = s32[] while(n), condition=condition, body=body }
"""
