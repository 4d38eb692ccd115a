package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// nvsmi reads the table that nvidia-smi prints by default, of all driver
// generations, once or repeated (-l), and nvidia-smi's error messages. A GPU
// takes two rows, and a third under MIG; the date line above the table is its
// only clock.
type nvsmi struct {
	stamp     forensics.Stamp // of the date line above the table
	stampLine int
	driver    string
	inBox     bool
	row       forensics.Event // first row of a GPU, waiting for the second
	rowOpen   bool
	cells     [][]byte
}

// nvsmiMinWidth is less than the narrowest table of any driver (77 columns).
const nvsmiMinWidth = 60

func (r *nvsmi) end(s *scan) { r.flush(s) }

func (r *nvsmi) line(l *line, s *scan) int {
	t := bytes.TrimRight(l.text, " ")
	if len(t) < 8 {
		r.close(s)
		return 0
	}
	switch c := t[0]; {
	case c == '|' && isDCGMHead(t):
		r.close(s)
		return 0
	case c == '|':
		return r.box(t, l, s)
	case c == '+':
		r.flush(s)
		return r.rule(t, l, s)
	}
	r.close(s)
	if t[0] >= 'F' && t[0] <= 'W' {
		if v := r.date(t, l, s); v != 0 {
			return v
		}
		return nvsmiFault(t, l, s)
	}
	return 0
}

// close ends the table: the line at hand is none of its lines.
func (r *nvsmi) close(s *scan) {
	r.flush(s)
	r.inBox = false
}

// flush emits a GPU whose second row never came.
func (r *nvsmi) flush(s *scan) {
	if r.rowOpen {
		r.rowOpen = false
		s.emit(&r.row)
	}
}

// date reads the line above the table. date(1) prints a zone name as well; that
// form is the shell reader's.
func (r *nvsmi) date(t []byte, l *line, s *scan) int {
	if len(t) != 24 || l.style != styleNone {
		return 0
	}
	st, n := ctimeStamp(t)
	if n != 24 {
		return 0
	}
	r.stamp, r.stampLine, s.stamp = st, l.pos.Line, st
	e := s.event(l, forensics.KindMark)
	e.Stamp = st
	s.emit(e)
	return 1
}

// rule claims a line of the frame: "+-----+", "+=====+".
func (r *nvsmi) rule(t []byte, l *line, s *scan) int {
	if len(t) < nvsmiMinWidth || len(bytes.Trim(t, "+-=|")) > 0 {
		return 0
	}
	r.inBox = true
	s.own()
	return s.quiet(l, 1)
}

func (r *nvsmi) box(t []byte, l *line, s *scan) int {
	if end := t[len(t)-1]; len(t) < nvsmiMinWidth || end != '|' && end != '+' {
		r.close(s)
		return 0
	}
	if bytes.HasPrefix(t, []byte("| NVIDIA-SMI ")) {
		return r.header(t, l, s)
	}
	r.cells = r.cells[:0]
	for rest := t[1:]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '|')
		if i < 0 {
			break
		}
		r.cells = append(r.cells, bytes.TrimSpace(rest[:i]))
		rest = rest[i+1:]
	}
	if r.rowOpen && l.pos.Line == r.row.Pos.Line+1 && r.second(s) {
		s.own()
		return s.quiet(l, 10)
	}
	r.flush(s)
	switch {
	case r.first(l, s), r.process(l, s):
		r.inBox = true
		s.own()
		return 10
	case !r.inBox && !bytes.HasPrefix(t, []byte("|==")) && !bytes.HasPrefix(t, []byte("|--")):
		return 0
	}
	s.own()
	return s.quiet(l, 1)
}

// header reads "| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04   CUDA
// Version: 13.0 |". Drivers from 595 say "KMD Version" and "CUDA UMD Version".
func (r *nvsmi) header(t []byte, l *line, s *scan) int {
	r.flush(s)
	r.inBox = true
	s.own()
	if l.pos.Line > r.stampLine+3 {
		r.stamp = forensics.Stamp{}
	}
	driver := wordAfter(t, "Driver Version:", "KMD Version:")
	if string(driver) == r.driver {
		return s.quiet(l, 10)
	}
	r.driver = string(driver)
	e := s.event(l, forensics.KindEnv)
	r.dated(e)
	gpuText(e, "driver_version", driver)
	gpuText(e, "cuda_version", wordAfter(t, "CUDA Version:", "CUDA UMD Version:"))
	if len(e.Attrs) == 0 {
		return s.quiet(l, 10)
	}
	s.emit(e)
	return 10
}

// dated gives an event the table's stamp if the line has none of its own.
func (r *nvsmi) dated(e *forensics.Event) {
	if e.Stamp.IsZero() {
		e.Stamp = r.stamp
	}
}

// wordAfter returns the word behind the first of the labels that b holds.
func wordAfter(b []byte, labels ...string) []byte {
	for _, label := range labels {
		if _, rest, ok := bytes.Cut(b, []byte(label)); ok {
			rest = bytes.TrimLeft(rest, " ")
			if i := bytes.IndexByte(rest, ' '); i >= 0 {
				rest = rest[:i]
			}
			return rest
		}
	}
	return nil
}

// first reads "|   0  NVIDIA H200  On  |   00000000:00:06.0 Off |     0 |" and
// keeps it until the second row.
func (r *nvsmi) first(l *line, s *scan) bool {
	if len(r.cells) != 3 {
		return false
	}
	bus, ok := busID(r.cells[1])
	head := r.cells[0]
	i := bytes.IndexByte(head, ' ')
	if !ok || i <= 0 || digits(head, 0, i) < 0 {
		return false
	}
	// The last word is the persistence mode or, on Windows, the driver model.
	name := head[i:]
	if j := bytes.LastIndexByte(name, ' '); j > 0 {
		name = name[:j]
	}
	e := s.event(l, forensics.KindGPU)
	r.dated(e)
	put(e, "index", view(head[:i]))
	gpuText(e, "name", name)
	put(e, "bus", bus)
	gpuText(e, "ecc", r.cells[2])
	if e.Format == "" {
		e.Format = formats[s.current].name
	}
	e.Lines = 2
	r.row, r.rowOpen = *e.Clone(), true
	return true
}

// second reads "| N/A   65C    P0   689W /  700W |    2163MiB / 143771MiB |
// 100%      Default |" and emits the GPU.
func (r *nvsmi) second(s *scan) bool {
	if len(r.cells) != 3 {
		return false
	}
	used, total := splitSlash(r.cells[1])
	if used == nil {
		return false
	}
	e := &r.row
	draw, limit := splitSlash(r.cells[0])
	for _, w := range bytes.Fields(draw) {
		switch last := w[len(w)-1]; {
		case last == 'C':
			gpuMeasure(e, forensics.ValGPUTemp, w)
		case last == 'W':
			gpuMeasure(e, forensics.ValGPUPower, w)
		case w[0] == 'P' && len(w) <= 3 && digits(w, 1, len(w)-1) >= 0:
			put(e, "perf", string(w))
		default:
			noteFault(e, w)
		}
	}
	gpuMeasure(e, forensics.ValGPUPowerLimit, limit)
	gpuMeasure(e, forensics.ValGPUMemUsed, used)
	gpuMeasure(e, forensics.ValGPUMemTotal, total)
	util := r.cells[2]
	if i := bytes.Index(util, []byte("  ")); i > 0 {
		util = util[:i]
	}
	gpuMeasure(e, forensics.ValGPUUtil, util)
	r.rowOpen = false
	s.emit(e)
	return true
}

// splitSlash splits "689W /  700W" and "N/A / N/A".
func splitSlash(b []byte) (left, right []byte) {
	i := bytes.LastIndex(b, []byte(" /"))
	if i < 0 {
		return nil, nil
	}
	return bytes.TrimSpace(b[:i]), bytes.TrimSpace(b[i+2:])
}

// process reads a row of the process table: GPU, from 2020 on GPU and compute
// instance, then pid, type, name and memory.
func (r *nvsmi) process(l *line, s *scan) bool {
	if len(r.cells) != 1 {
		return false
	}
	cell := r.cells[0]
	if bytes.HasPrefix(cell, []byte("No running processes found")) || bytes.HasPrefix(cell, []byte("No running compute processes found")) {
		e := s.event(l, forensics.KindGPUProc)
		r.dated(e)
		put(e, "none", "true")
		s.emit(e)
		return true
	}
	index, rest := cutWord(cell)
	if len(index) == 0 || digits(index, 0, len(index)) < 0 {
		return false
	}
	pid, rest := cutWord(rest)
	if kind, _ := cutWord(rest); !isProcType(kind) {
		_, rest = cutWord(rest) // pid and kind were the instance ids
		pid, rest = cutWord(rest)
	}
	kind, rest := cutWord(rest)
	j := bytes.LastIndexByte(rest, ' ')
	if digits(pid, 0, len(pid)) < 0 || len(pid) == 0 || !isProcType(kind) || j < 0 {
		return false
	}
	e := s.event(l, forensics.KindGPUProc)
	r.dated(e)
	put(e, "index", view(index))
	put(e, "pid", view(pid))
	gpuText(e, "name", rest[:j])
	if _, unit, ok := quantity(rest[j:]); ok && len(unit) > 0 {
		put(e, "memory_mib", view(bytes.TrimSuffix(bytes.TrimSpace(rest[j:]), unit)))
	}
	put(e, "type", view(kind))
	s.emit(e)
	return true
}

// isProcType accepts compute, graphics, both, and MPS.
func isProcType(b []byte) bool {
	switch string(b) {
	case "C", "G", "C+G", "M+C", "M":
		return true
	}
	return false
}

// cutWord returns the first word of b and what follows it.
func cutWord(b []byte) (word, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	i := bytes.IndexAny(b, " \t")
	if i < 0 {
		return b, nil
	}
	return b[:i], bytes.TrimLeft(b[i:], " \t")
}

// nvsmiFaults are the beginnings of what nvidia-smi prints when it cannot do its
// work. They are evidence about the machine.
var nvsmiFaults = []string{
	"NVIDIA-SMI has failed because",
	"NVIDIA-SMI couldn't",
	"No devices were found",
	"No devices found.",
	"Failed to initialize NVML:",
	"Failed to properly shut down NVML:",
	"Unable to determine the device handle for",
	"Unable to determine the device index for",
	"GPU is lost.",
	"Field \"",
	"Insufficient Permissions",
	"WARNING: infoROM is corrupted at gpu",
}

func nvsmiFault(t []byte, l *line, s *scan) int {
	for _, f := range nvsmiFaults {
		if t[0] != f[0] || !bytes.HasPrefix(t, []byte(f)) {
			continue
		}
		if f[0] == 'F' && f[5] == ' ' && !bytes.HasSuffix(t, []byte(" is not a valid field to query.")) {
			return 0
		}
		e := s.event(l, forensics.KindEnv)
		put(e, "nvidia_smi_error", view(t))
		s.emit(e)
		return 10
	}
	return 0
}
