package parse

import (
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// startGPU begins a GPU, after closing the one before.
func (r *nvq) startGPU(l *line, bus string) {
	r.endGPU(l.pos.Line)
	if r.gpus >= nvqMaxGPUs {
		return
	}
	r.gpus++
	r.path = r.path[:0]
	r.gpu = &nvqGPU{ev: forensics.Event{
		Pos: l.pos, Lines: 1, Stamp: l.stamp, Proc: l.proc, Kind: forensics.KindGPU,
		Raw: string(l.raw), Text: string(l.text), Format: "nvidia-smi-q",
	}}
	r.dated(&r.gpu.ev)
	put(&r.gpu.ev, "bus", bus)
	r.done = append(r.done, &r.gpu.ev)
}

func (r *nvq) dated(e *forensics.Event) {
	if e.Stamp.IsZero() {
		e.Stamp = r.stamp
	}
}

// endGPU completes the GPU under way. Its events wait for the end of the log,
// when it is known whether all GPUs are listed.
func (r *nvq) endGPU(line int) {
	g := r.gpu
	if g == nil {
		return
	}
	r.gpu, r.proc = nil, nil
	e := &g.ev
	e.Lines = max(line-e.Pos.Line, 1)
	if g.masked {
		e.Values = append(e.Values, forensics.Value{Name: forensics.ValGPUReasons, X: float64(g.mask)})
		put(e, "reasons", reasonNames(g.mask))
	}
	if g.ecc {
		put(e, "ecc", strconv.FormatFloat(g.volatile, 'f', -1, 64))
		put(e, "ecc_aggregate", strconv.FormatFloat(g.aggregate, 'f', -1, 64))
	}
}

// close ends the log and emits its GPUs. nvidia-smi does not print their
// numbers; they are listed in order, so that a complete list tells them.
func (r *nvq) close(s *scan) {
	if !r.open {
		return
	}
	r.endGPU(r.lastLine + 1)
	complete := r.attached == strconv.Itoa(r.gpus)
	index := -1
	for _, e := range r.done {
		if e.Kind == forensics.KindGPU {
			index++
			if len(e.Attrs) == 0 && len(e.Values) == 0 {
				continue
			}
		}
		if complete && e.Kind != forensics.KindEnv {
			put(e, "index", strconv.Itoa(index))
		}
		s.emit(e)
	}
	*r = nvq{path: r.path[:0]}
}

// inMIG reports whether the section of a MIG device is open: its keys are named
// like those of the GPU around it.
func (r *nvq) inMIG() bool {
	for _, p := range r.path {
		if strings.HasPrefix(p.name, "MIG Device") || strings.HasPrefix(p.name, "mig_device") {
			return true
		}
	}
	return false
}

// set takes a key and its value.
func (r *nvq) set(key string, val []byte, l *line, s *scan) {
	if r.gpu == nil {
		r.fact(key, val, l, s)
		return
	}
	if r.inMIG() {
		return // a slice's memory is not the GPU's
	}
	g := r.gpu
	section := r.section()
	if r.reason(key, val) || r.eccCount(key, val) {
		return
	}
	c := nvqFields[nvqKey{section, key}]
	if c == nil {
		return
	}
	e := &g.ev
	if section == "Processes" || section == "Process ID" || section == "process_info" {
		if e = r.process(c, l); e == nil {
			return
		}
	}
	// Values outlive the line.
	kept := []byte(string(val))
	switch {
	case c.key == "memory_mib":
		if x, unit, ok := quantity(kept); ok && x >= 0 {
			put(e, c.key, strings.TrimSpace(strings.TrimSuffix(string(kept), string(unit))))
		}
	case c.use == useValue:
		gpuMeasure(e, c.key, kept)
	default:
		gpuText(e, c.key, kept)
	}
}

// process returns the event of the process that a field belongs to.
func (r *nvq) process(c *gpuColumn, l *line) *forensics.Event {
	if c.key == "pid" {
		r.proc = &forensics.Event{
			Pos: l.pos, Lines: 1, Stamp: l.stamp, Proc: l.proc, Kind: forensics.KindGPUProc,
			Raw: string(l.raw), Text: string(l.text), Format: "nvidia-smi-q",
		}
		r.dated(r.proc)
		if len(r.done) < 16*nvqMaxGPUs {
			r.done = append(r.done, r.proc)
		}
		put(r.proc, "bus", r.gpu.ev.Attr("bus"))
	}
	return r.proc
}

// reason notes an active clock reason. The sub-reasons of a hardware slowdown
// are indented below it.
func (r *nvq) reason(key string, val []byte) bool {
	if !r.within("Clocks Event Reasons") && !r.within("Clocks Throttle Reasons") {
		return false
	}
	key = strings.TrimPrefix(strings.TrimPrefix(key, "clocks_event_reason_"), "clocks_throttle_reason_")
	for i := range clockReasons {
		if key != clockReasons[i].label && key != clockReasons[i].name {
			continue
		}
		r.gpu.masked = true
		if string(val) == "Active" {
			r.gpu.mask |= clockReasons[i].bit
		}
		return true
	}
	return false
}

// eccCount adds up the uncorrectable errors. Drivers before 450 count single and
// double bit errors; only the latter are uncorrectable.
func (r *nvq) eccCount(key string, val []byte) bool {
	if !r.within("ECC Errors") {
		return false
	}
	k := strings.ToLower(key)
	if !strings.Contains(k, "uncorrectable") && !(r.within("Double Bit") && k == "total") {
		return false
	}
	x, ok := gpuNumber(val)
	switch {
	case !ok:
	case r.within("Volatile"):
		r.gpu.volatile, r.gpu.ecc = r.gpu.volatile+x, true
	case r.within("Aggregate"):
		r.gpu.aggregate, r.gpu.ecc = r.gpu.aggregate+x, true
	}
	return true
}

// fact takes what stands above the first GPU.
func (r *nvq) fact(key string, val []byte, l *line, s *scan) {
	switch key {
	case "Timestamp", "timestamp":
		st, n := ctimeStamp(val)
		if n == 0 {
			return
		}
		r.stamp, s.stamp = st, st
		e := s.event(l, forensics.KindMark)
		e.Stamp, e.Hits = st, nil
		s.emit(e)
	case "Driver Version", "driver_version", "CUDA Version", "cuda_version":
		e := s.event(l, forensics.KindEnv)
		r.dated(e)
		e.Hits = nil
		gpuText(e, strings.ToLower(strings.ReplaceAll(key, " ", "_")), val)
		if len(e.Attrs) > 0 {
			s.emit(e)
		}
	case "Attached GPUs", "attached_gpus":
		r.attached = string(val)
	}
}
