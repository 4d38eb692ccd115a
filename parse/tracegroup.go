package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// maxDepth bounds the nesting of exception groups. traceback.py itself stops at
// max_group_depth = 10.
const maxDepth = 16

// groupLevel is one depth of an exception group as traceback.py draws it:
//
//   - Exception Group Traceback (most recent call last):
//     |   File "a.py", line 8, in <module>
//     | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
//     +-+---------------- 1 ----------------
//     | Traceback (most recent call last):
//     | ValueError: first
//     +---------------- 2 ----------------
//     | ...
//     +------------------------------------
//
// The column of the gutter is the depth.
type groupLevel struct {
	col int
	c   *chain
}

// openGroup notes that a group's own gutter begins at the column.
func (c *chain) openGroup(col int) { c.group = append(c.group[:0], groupLevel{col, c}) }

// gutterColumn returns the column of the gutter of a line, -1 if it has none.
func gutterColumn(text []byte) int {
	i := 0
	for i < len(text) && i < 4*maxDepth && text[i] == ' ' {
		i++
	}
	if i >= len(text) || text[i] != '|' && text[i] != '+' || i == 0 {
		return -1
	}
	if text[i] == '+' && i+1 < len(text) && text[i+1] != '-' && text[i+1] != ' ' {
		return -1
	}
	return i
}

// gutter handles a line of an exception group. It returns false if the line has
// no gutter.
func (c *chain) gutter(text []byte, l *line, names *interner) bool {
	col := gutterColumn(text)
	if col < 0 {
		return false
	}
	if text[col] == '+' {
		c.rule(text[col:], col)
		return true
	}
	c.popTo(col)
	top := c.group[len(c.group)-1].c
	body := trimOne(text[col+1:])
	if _, _, ok := header(body); ok {
		top.header()
		return true
	}
	top.said = false
	top.plain(body, l, names, func() bool { return true })
	c.said = top.said
	return true
}

// rule handles the lines between members: "+-+--- 1 ---" opens the first,
// "+--- 2 ---" the next, "+-----" closes the group.
func (c *chain) rule(text []byte, col int) {
	if bytes.HasPrefix(text, []byte("+-+-")) {
		c.popTo(col)
		c.pushLevel(col + 2)
		return
	}
	c.popTo(col)
	if n := len(c.group); n > 1 && c.group[n-1].col == col {
		c.popLevel()
	}
	if bytes.IndexByte(text, ' ') > 0 {
		c.pushLevel(col)
		return
	}
	if len(c.group) == 1 {
		c.group = nil
		c.state, c.gaps = afterGap, 0
	}
}

func (c *chain) popTo(col int) {
	for n := len(c.group); n > 1 && c.group[n-1].col > col; n-- {
		c.popLevel()
	}
}

func (c *chain) pushLevel(col int) {
	if len(c.group) < maxDepth {
		c.group = append(c.group, groupLevel{col, &chain{}})
	}
}

// popLevel ends the innermost member and gives it to the group around it.
func (c *chain) popLevel() {
	n := len(c.group) - 1
	member := c.group[n].c
	c.group = c.group[:n]
	t := member.finish()
	if len(t.Chain) == 0 {
		return
	}
	if parent := c.group[n-1].c; parent.owner() != nil && len(parent.owner().Group) < maxChain {
		x := parent.owner()
		x.Group = append(x.Group, *t)
	}
}

// owner returns the exception that members read now belong to.
func (c *chain) owner() *forensics.Exception {
	if c.cur.Type != "" || len(c.trace.Chain) == 0 {
		return &c.cur
	}
	return &c.trace.Chain[len(c.trace.Chain)-1]
}
