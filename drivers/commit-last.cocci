// SPDX-License-Identifier: GPL-2.0
// Reports every change of an skb that can run after txts_commit(): from there
// on the skb is shared. Follows the paths of the function that commits, those
// of its callers, and calls of functions that change an skb themselves, each
// within one file. A change through a pointer into the headers that was taken
// before is not seen.
//
//   spatch --sp-file drivers/commit-last.cocci --no-includes FILE...
//
// fails if there is one, and if no FILE commits. commit-last-bad.c has what it
// must find, each marked with "bad", and what it must not.

@initialize:python@
@@
import re
# Functions of the kernel that write to the packet or to what describes it.
CHANGE = re.compile(r"""_*(p?skb_(cow|put|push|pull|trim|pad|expand|may_pull
	|linearize|checksum_(help|complete)|crc32c|set_|reset_|vlan_(push|pop)
	|store_bits|orphan_frags|unshare|unclone|copy_to_linear|copy_header
	|ensure_writable|txtime_consumed|scrub|add_rx|fill_page|frag_(set|add
	|sub|off_)|condense|ext_)|eth_skb_pad|vlan_(hwaccel_|insert|put_tag)
	|csum_replace|inet_proto_csum_replace)""", re.X)
commits = set()
calls = []
late = set()

def where(p):
    return p[0].file, int(p[0].line)

// ---- what calls what --------------------------------------------------------

@call@
identifier g;
position q;
@@
 g@q(...)

@script:python@
g << call.g;
q << call.q;
@@
calls.append((q[0].file, q[0].current_element, str(g)))

@commit exists@
identifier fn;
position p;
@@
 fn(...)
 {
 <+...
 txts_commit@p(...)
 ...+>
 }

@script:python@
p << commit.p;
@@
commits.add(where(p))

// ---- after the commit, in the function and in its callers -------------------

@after exists@
identifier g != txts_commit;
position p, q;
@@
 txts_commit@p(...)
 ... when any
 g@q(...)

@script:python@
g << after.g;
q << after.q;
@@
late.add((*where(q), str(g)))

@after_call exists@
identifier commit.fn;
identifier g;
position p, q;
@@
 fn@p(...)
 ... when any
 g@q(...)

@script:python@
g << after_call.g;
q << after_call.q;
@@
late.add((*where(q), str(g)))

@store exists@
identifier commit.fn, fld;
struct sk_buff *S;
expression X, E;
assignment operator op;
position q;
@@
 \(txts_commit(...)\|fn(...)\)
 ... when any
(
 S@q->fld op E
|
 S@q->data[X] op E
|
 S@q->fld++
|
 S@q->fld--
|
 X@q->skb->fld op E
|
 skb_shinfo@q(...)->fld op E
|
 \(memcpy@q\|memset@q\|memmove@q\)(<+... S->data ...+>, ...)
)

@script:python@
q << store.q;
@@
late.add((*where(q), None))

@finalize:python@
@@
# Functions that change an skb themselves, through others too.
changers = set()
grown = True
while grown:
    grown = False
    for file, caller, g in calls:
        if (file, caller) not in changers and \
           (CHANGE.match(g) or (file, g) in changers):
            changers.add((file, caller))
            grown = True
wrong = 0
for file, line, g in sorted(late, key=str):
    if g is None or CHANGE.match(g) or (file, g) in changers:
        print("%s:%d: %s changes an skb after txts_commit()" %
              (file, line, g + "()" if g else "a store"), flush=True)
        wrong += 1
if not commits:
    print("commit-last: no file calls txts_commit()", flush=True)
if wrong or not commits:
    raise SystemExit(1)
print("commit-last: %d txts_commit(), no change of an skb after it" %
      len(commits), flush=True)
