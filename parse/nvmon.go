package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// nvmon reads `nvidia-smi dmon` and `pmon`, and `dcgmi dmon`, whose rows begin
// with the kind of entity ("GPU 0") and whose columns follow -e: two header lines, repeated every
// screenful, then one row per GPU or process and second. The columns follow the
// -s groups; "-" means no value.
type nvmon struct {
	cols   []monColumn
	procs  bool
	dcgm   bool
	last   int // line of the last header or row
	fields [][]byte
}

// monColumn is a column that is kept.
type monColumn struct {
	value string // name of the value
	attr  string // name of the attribute
	clock byte   // 'd' for the date, 't' for the time
}

// monColumns maps the names in the first header line.
var monColumns = map[string]monColumn{
	"gpu": {attr: "index"}, "pid": {attr: "pid"}, "type": {attr: "type"}, "command": {attr: "name"},
	"Date": {clock: 'd'}, "Time": {clock: 't'},
	"pwr": {value: forensics.ValGPUPower}, "gtemp": {value: forensics.ValGPUTemp}, "temp": {value: forensics.ValGPUTemp},
	// dcgmi: fields 203, 155, 150, 252, 250, 100 and 230 of dcgm_fields.h
	"Entity": {attr: "index"}, "GPUTL": {value: forensics.ValGPUUtil}, "POWER": {value: forensics.ValGPUPower},
	"TMPTR": {value: forensics.ValGPUTemp}, "FBUSD": {value: forensics.ValGPUMemUsed}, "FBTTL": {value: forensics.ValGPUMemTotal},
	"SMCLK": {value: forensics.ValGPUClock}, "XIDER": {attr: "xid"}, "DVCCTR": {value: forensics.ValGPUReasons}, "PMLMT": {value: forensics.ValGPUPowerLimit},
	"sm": {value: forensics.ValGPUUtil}, "pclk": {value: forensics.ValGPUClock}, "fb": {value: forensics.ValGPUMemUsed},
}

func (*nvmon) end(*scan) {}

func (r *nvmon) line(l *line, s *scan) int {
	t := l.text
	if r.dcgm {
		t = bytes.TrimLeft(t, " ")
	}
	if len(t) < 8 && !(r.dcgm && len(t) > 1) {
		return 0
	}
	switch {
	case t[0] == '#':
		return r.header(t, l, s)
	case r.dcgm && r.last > 0 && l.pos.Line == r.last+1 && (t[0] == 'G' || t[0] == 'I'):
		return r.dcgmRow(l, s)
	case r.last > 0 && l.pos.Line == r.last+1 && (t[0] == ' ' || t[0] >= '0' && t[0] <= '9'):
		return r.row(l, s)
	}
	return 0
}

// header reads "# gpu    pwr  gtemp" and, with -o DT, "#Date   Time   gpu". The
// second header line holds the units.
func (r *nvmon) header(t []byte, l *line, s *scan) int {
	words := bytes.Fields(t[1:])
	if len(words) < 3 {
		return 0
	}
	if w := string(words[0]); w == "Idx" || w == "YYYYMMDD" || w == "HH:MM:SS" {
		if l.pos.Line != r.last+1 || r.last == 0 {
			return 0
		}
		r.last = l.pos.Line
		s.own()
		return s.quiet(l, 10)
	}
	if w := string(words[0]); w != "gpu" && w != "Date" && w != "Time" && w != "Entity" {
		return 0
	}
	r.dcgm = string(words[0]) == "Entity"
	r.cols, r.procs, r.last = r.cols[:0], false, l.pos.Line
	gpu := false
	for _, w := range words {
		c := monColumns[string(w)]
		r.cols = append(r.cols, c)
		r.procs = r.procs || c.attr == "pid"
		gpu = gpu || c.attr == "index"
	}
	if !gpu {
		r.last = 0
		return 0
	}
	s.own()
	return s.quiet(l, 10)
}

// dcgmRow reads the line of units and the rows of `dcgmi dmon`. Slices of a GPU
// ("GPU-I 1") are understood and not kept.
func (r *nvmon) dcgmRow(l *line, s *scan) int {
	kind, rest := cutWord(bytes.TrimLeft(l.text, " "))
	switch string(kind) {
	case "GPU":
		return r.cells(r.split(rest), l, s)
	case "ID", "Id", "GPU-I", "GPU-CI", "Sw", "CPU":
		r.last = l.pos.Line
		s.own()
		return s.quiet(l, 3)
	}
	return 0
}

func (r *nvmon) row(l *line, s *scan) int { return r.cells(r.split(l.text), l, s) }

// cells keeps what a row tells.
func (r *nvmon) cells(fields [][]byte, l *line, s *scan) int {
	if len(fields) != len(r.cols) {
		return 0
	}
	kind := forensics.KindGPU
	if r.procs {
		kind = forensics.KindGPUProc
	}
	e := s.event(l, kind)
	var day int64
	for i, c := range r.cols {
		f := fields[i]
		switch {
		case c.attr == "index" && digits(f, 0, len(f)) < 0:
			return 0
		case c.attr != "":
			gpuText(e, c.attr, f)
		case c.clock == 'd' && len(f) == 8:
			day, _ = days(digits(f, 0, 4), digits(f, 4, 2), digits(f, 6, 2))
		case c.clock == 't' && day > 0:
			if ns, res, n := clockTime(f); n > 0 {
				e.Stamp = forensics.Stamp{Clock: forensics.ClockLocal, Nanos: day*nsPerDay + ns, Res: res}
			}
		case r.procs && c.value == forensics.ValGPUMemUsed:
			gpuText(e, "memory_mib", f)
		case c.value != "":
			gpuMeasure(e, c.value, f)
		}
	}
	if r.procs && e.Attr("pid") == "" {
		put(e, "none", "true")
	}
	r.last = l.pos.Line
	s.own()
	s.emit(e)
	return 10
}

// split cuts a row at spaces. The command, the last column, may hold some.
func (r *nvmon) split(t []byte) [][]byte {
	r.fields = r.fields[:0]
	for rest := bytes.TrimSpace(t); len(rest) > 0; {
		var w []byte
		if r.procs && len(r.fields) == len(r.cols)-1 {
			w, rest = rest, nil
		} else {
			w, rest = cutWord(rest)
		}
		r.fields = append(r.fields, w)
	}
	return r.fields
}
