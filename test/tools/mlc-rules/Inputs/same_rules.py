"""Every rule of one `mlc-rules list --json` is in the other, and was proved.

usage: same_rules.py FOUND SHIPPED
"""

import json
import sys

found, shipped = (json.load(open(path)) for path in sys.argv[1:])
known = {rule["hash"]: rule for rule in shipped}
missing = [rule["name"] for rule in found if rule["hash"] not in known]
assert len(found) >= 5, f"only {len(found)} rules were found"
assert not missing, f"found, but not committed: {missing}"
