package parse

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/llmforensics/forensics"
)

// benchJSON reads the result files of benchmark clients: SGLang's JSON lines
// (with bare Infinity and NaN), vLLM's and InferenceX's result object, objects
// appended to each other without a line feed, InferenceX's aggregates, and the
// result.jsonl of bench_one_batch_server and bench_offline_throughput.
//
// There are two of them in the format table. One reads lines that hold whole
// objects; the other objects that span lines (indent=2), which it can claim only
// from the first line on that no other JSON would have.
type benchJSON struct {
	multi bool

	walk jsonWalk
	rec  jsonRecord
	open bool // an object that spans lines is under way
	mine bool // it is a benchmark's
	head forensics.Event
	last int
}

func (r *benchJSON) end(s *scan) {
	if r.open {
		r.cut(s)
	}
}

func (r *benchJSON) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if r.multi {
		if r.open {
			return r.next(t, l, s)
		}
		return r.begin(t, l, s)
	}
	if len(t) < 32 || t[0] != '{' && (t[0] != '[' || t[1] != '{') || !bytes.Contains(t, []byte("throughput\"")) && !bytes.Contains(t, []byte("tput_per_gpu\"")) &&
		!r.looksCut(t) {
		return 0
	}
	return r.objects(t, l, s)
}

// looksCut recognises a record of which only the parameters are left.
func (r *benchJSON) looksCut(t []byte) bool {
	return t[len(t)-1] != '}' && bytes.Contains(t[:min(len(t), 512)], []byte(`"backend": "`)) && bytes.Contains(t, []byte(`"request_rate": `))
}

// objects reads a line that holds one object or several.
func (r *benchJSON) objects(t []byte, l *line, s *scan) int {
	long := len(l.text) >= MaxLine-maxPrompt // a wrapper's prefix may have been removed
	t = bytes.TrimPrefix(t, []byte("["))
	weight := 0
	for len(t) > 0 && t[0] == '{' {
		r.start()
		r.walk.pieces = long
		used, done, err := r.walk.feed(t)
		if err != nil || !done {
			if r.rec.metrics == 0 && r.rec.known < 3 {
				break
			}
			if long && err == nil {
				r.longLine(l, s)
				return 10
			}
			r.noteCut(l.pos, l.text, err, s)
			r.emit(s.event(l, forensics.KindBench), true, s)
			return -1
		}
		if r.rec.isRecord() {
			r.emit(s.event(l, forensics.KindBench), false, s)
			weight = 10
		}
		t = bytes.TrimLeft(t[used:], ", ]")
	}
	return weight
}

// longLine reads on in an object that is longer than a line may be: the lists of
// ten thousand requests stand in it, and the metrics behind them.
func (r *benchJSON) longLine(l *line, s *scan) {
	r.head = *s.event(l, forensics.KindBench).Clone()
	r.head.Format, r.head.Hits = formats[s.current].name, nil
	ended := false
	s.takeTail(func(piece []byte, end bool) {
		if ended {
			return
		}
		_, done, err := r.walk.feed(piece)
		if ended = done || end || err != nil; !ended {
			return
		}
		if !done {
			r.noteCut(r.head.Pos, piece, err, s)
		}
		r.emit(&r.head, !done, s)
	})
}

func (r *benchJSON) noteCut(pos forensics.Pos, text []byte, err error, s *scan) {
	what := "cut JSON object: "
	if err != nil {
		what = "broken JSON object: "
	}
	tail := text[max(0, len(text)-60):]
	clean, _ := printable(tail, nil)
	s.note(pos.Line, pos.Offset, fmt.Sprintf("%sends with %q", what, clean))
}

func (r *benchJSON) start() {
	if r.walk.value == nil {
		r.walk.value = r.rec.take
	}
	r.walk.reset()
	r.rec = jsonRecord{values: r.rec.values[:0], params: r.rec.params[:0], order: r.rec.order[:0]}
}

// begin takes the first line of an object that may span lines.
func (r *benchJSON) begin(t []byte, l *line, s *scan) int {
	if len(t) == 0 || t[0] != '{' || len(t) > 4096 || len(t) > 1 && (t[len(t)-1] == '}' || t[1] != '"' && t[1] != ' ') {
		return 0
	}
	r.start()
	if _, done, err := r.walk.feed(t); done || err != nil || r.walk.quoted {
		return 0
	}
	r.open, r.mine, r.last = true, false, l.pos.Line
	r.head = *s.event(l, forensics.KindBench).Clone()
	r.head.Hits = nil
	return r.verdict(l, s)
}

// next takes a further line. Until a key shows whose object it is, the lines are
// watched but not claimed.
func (r *benchJSON) next(t []byte, l *line, s *scan) int {
	if l.pos.Line == r.last {
		return 0 // asked twice about one line
	}
	if l.pos.Line != r.last+1 {
		r.cut(s)
		return 0
	}
	r.last = l.pos.Line
	used, done, err := r.walk.feed(t)
	if err != nil || r.walk.quoted {
		r.cut(s)
		return 0
	}
	if !done {
		return r.verdict(l, s)
	}
	r.open = false
	if len(bytes.Trim(t[used:], ", ]")) > 0 || !r.rec.isRecord() {
		return 0
	}
	r.head.Lines = l.pos.Line - r.head.Pos.Line + 1
	r.emit(&r.head, false, s)
	s.keep(l)
	return 10
}

func (r *benchJSON) verdict(l *line, s *scan) int {
	if !r.mine && (r.rec.metrics > 0 || r.rec.known >= 4) {
		r.mine = true
	}
	if !r.mine {
		return 0
	}
	s.own()
	s.keep(l)
	return 3
}

// cut ends an object whose end is missing.
func (r *benchJSON) cut(s *scan) {
	r.open = false
	if r.rec.metrics == 0 && r.rec.known < 4 {
		return
	}
	s.note(r.last, 0, fmt.Sprintf("cut JSON object: it begins at line %d", r.head.Pos.Line))
	r.head.Lines = r.last - r.head.Pos.Line + 1
	r.emit(&r.head, true, s)
}

// emit completes and emits the record.
func (r *benchJSON) emit(e *forensics.Event, cut bool, s *scan) {
	c := &r.rec
	if c.seconds {
		c.toMillis()
	}
	if c.rows > 0 && !hasAttr(c.params, "num_prompts") {
		c.values = append(c.values, forensics.Value{Name: "num_prompts", X: float64(c.rows)})
		c.param("num_prompts", strconv.Itoa(c.rows))
	}
	e.Attrs = append(e.Attrs[:0], forensics.Attr{Key: "step", Value: forensics.StepRecord})
	if client := c.client(); client != "" {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "client", Value: client})
	}
	e.Attrs = append(e.Attrs, c.params...)
	if c.seconds {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "aggregate", Value: "true"})
	}
	if cut {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "cut", Value: "tail"})
	}
	e.Values = append(e.Values[:0], c.values...)
	c.addErrors(e)
	if st := c.stamp(); !st.IsZero() {
		e.Stamp = st
	}
	if e.Proc.Role == "" {
		e.Proc.Role = forensics.RoleClient
	}
	s.emit(e)
}
