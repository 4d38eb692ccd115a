package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

// gpuCSV reads what nvidia-smi prints for --query-gpu and --query-compute-apps
// with --format=csv, with or without header and units. Without a header the
// columns are those of the command, if that was seen, and else what the units
// tell.
type gpuCSV struct {
	cols   []*gpuColumn
	procs  bool // the columns are those of --query-compute-apps
	seen   int  // line of the header, command or row that the next row must follow
	fields [][]byte
	driver string
	head   forensics.Event // header of a process list, until a row comes
	empty  bool
}

// columnUse says what to do with a column.
type columnUse uint8

const (
	useNone  columnUse = iota
	useStamp           // the clock
	useText            // attribute
	useCount           // attribute that must be a whole number
	useBus             // attribute, normalised
	useValue           // number
	useMask            // hex mask of clock reasons
	useBit             // one clock reason, "Active" or not
	useFact            // KindEnv
)

// gpuColumn is a column that is kept.
type gpuColumn struct {
	use columnUse
	key string
	bit int
}

// gpuColumns maps property names to uses: the canonical names, which the header
// echoes, and the aliases, which commands use (`nvidia-smi --help-query-gpu`).
var gpuColumns = map[string]*gpuColumn{
	"timestamp": {use: useStamp},
	"index":     {use: useCount, key: "index"}, "name": {use: useText, key: "name"}, "gpu_name": {use: useText, key: "name"},
	"uuid": {use: useText, key: "uuid"}, "gpu_uuid": {use: useText, key: "uuid"},
	"pci.bus_id": {use: useBus, key: "bus"}, "gpu_bus_id": {use: useBus, key: "bus"},
	"pstate": {use: useText, key: "perf"}, "driver_version": {use: useFact, key: "driver_version"},
	"temperature.gpu": {use: useValue, key: forensics.ValGPUTemp}, "utilization.gpu": {use: useValue, key: forensics.ValGPUUtil},
	"memory.used": {use: useValue, key: forensics.ValGPUMemUsed}, "memory.total": {use: useValue, key: forensics.ValGPUMemTotal},
	"power.draw": {use: useValue, key: forensics.ValGPUPower}, "power.draw.average": {use: useValue, key: forensics.ValGPUPower},
	"power.draw.instant": {use: useValue, key: forensics.ValGPUPower},
	"power.limit":        {use: useValue, key: forensics.ValGPUPowerLimit}, "enforced.power.limit": {use: useValue, key: forensics.ValGPUPowerLimit},
	"clocks.current.sm": {use: useValue, key: forensics.ValGPUClock}, "clocks.sm": {use: useValue, key: forensics.ValGPUClock},
	"clocks.current.graphics": {use: useValue, key: forensics.ValGPUClock}, "clocks.gr": {use: useValue, key: forensics.ValGPUClock},
	"clocks.max.sm": {use: useValue, key: forensics.ValGPUClockMax}, "clocks.max.graphics": {use: useValue, key: forensics.ValGPUClockMax},
	"clocks_event_reasons.active":            {use: useMask, key: forensics.ValGPUReasons},
	"clocks_throttle_reasons.active":         {use: useMask, key: forensics.ValGPUReasons},
	"ecc.errors.uncorrected.volatile.total":  {use: useText, key: "ecc"},
	"ecc.errors.uncorrected.aggregate.total": {use: useText, key: "ecc_aggregate"},
	"remapped_rows.correctable":              {use: useText, key: "remapped_correctable"},
	"remapped_rows.uncorrectable":            {use: useText, key: "remapped_uncorrectable"},
	"remapped_rows.pending":                  {use: useText, key: "remapped_pending"},
	"remapped_rows.failure":                  {use: useText, key: "remapped_failure"},
	"retired_pages.pending":                  {use: useText, key: "retired_pending"},
	"fabric.state":                           {use: useText, key: "fabric_state"},
	"fabric.status":                          {use: useText, key: "fabric_status"},
	"gpu_recovery_action":                    {use: useText, key: "recovery_action"},
	"persistence_mode":                       {}, "count": {}, "serial": {}, "gpu_serial": {}, "pcie": {}, "clocks": {}, "ecc": {}, "power": {},
	"memory": {}, "temperature": {}, "utilization": {}, "retired_pages": {}, "remapped_rows": {}, "mig": {}, "encoder": {},
	"enforced": {}, "inforom": {}, "gom": {}, "fan": {}, "compute_mode": {}, "compute_cap": {}, "vbios_version": {},
	"pci": {}, "gsp": {}, "accounting": {}, "display_mode": {}, "display_active": {}, "fabric": {}, "module_id": {},
	"clocks_event_reasons": {}, "clocks_throttle_reasons": {}, "addressing_mode": {}, "driver_model": {},
	"pid": {use: useCount, key: "pid"}, "process_name": {use: useText, key: "name"},
	"used_gpu_memory": {use: useValue, key: "memory_mib"}, "used_memory": {use: useValue, key: "memory_mib"},
}

// columnOf returns the use of a property, which is nil for what is none. Unknown
// properties of known groups are none of our business, but properties.
func columnOf(name []byte) *gpuColumn {
	if c := gpuColumns[string(name)]; c != nil {
		return c
	}
	i := bytes.IndexByte(name, '.')
	if i <= 0 {
		return nil
	}
	if group := name[:i]; gpuColumns[string(group)] != nil {
		for j := range clockReasons {
			if bytes.HasPrefix(group, []byte("clocks_")) && string(name[i+1:]) == clockReasons[j].name {
				return &gpuColumn{use: useBit, bit: clockReasons[j].bit}
			}
		}
		return gpuColumns["serial"]
	}
	return nil
}

func (r *gpuCSV) end(s *scan) { r.flush(s) }

// flush reports that a process list had no rows.
func (r *gpuCSV) flush(s *scan) {
	if r.empty {
		r.empty = false
		s.emit(&r.head)
	}
}

func (r *gpuCSV) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 4 {
		r.flush(s)
		return 0
	}
	c := t[0]
	if c >= 'a' && c <= 'z' && r.header(t, l, s) {
		return 10
	}
	if len(r.cols) > 0 && (l.pos.Line <= r.seen+1 || c >= '0' && c <= '9' || c == 'G' || c == 'N') {
		if v := r.row(l, s); v != 0 {
			return v
		}
	}
	r.flush(s)
	if c >= '0' && c <= '9' || c == 'G' || c == 'N' || c == 'T' {
		return r.bare(l, s)
	}
	return 0
}

// split cuts a line at commas.
func (r *gpuCSV) split(t []byte) [][]byte {
	r.fields = r.fields[:0]
	for len(r.fields) < 64 {
		i := bytes.IndexByte(t, ',')
		if i < 0 {
			return append(r.fields, bytes.TrimSpace(t))
		}
		r.fields = append(r.fields, bytes.TrimSpace(t[:i]))
		t = t[i+1:]
	}
	return r.fields
}

// header reads "timestamp, index, utilization.gpu [%]". Every column must look
// like a property; the first must be one.
func (r *gpuCSV) header(t []byte, l *line, s *scan) bool {
	i := bytes.IndexAny(t[:min(len(t), 64)], ", ")
	if i < 0 || columnOf(t[:i]) == nil {
		return false
	}
	r.fields = r.split(t)
	unit := false
	cols := make([]*gpuColumn, 0, len(r.fields))
	for _, f := range r.fields {
		name, u, has := bytes.Cut(f, []byte(" ["))
		c := columnOf(name)
		if c == nil || has && !bytes.HasSuffix(u, []byte("]")) {
			return false
		}
		unit = unit || has
		cols = append(cols, c)
	}
	if len(cols) < 2 && !unit {
		return false
	}
	r.flush(s)
	r.setColumns(cols, l.pos.Line)
	if r.procs {
		e := s.event(l, forensics.KindGPUProc)
		put(e, "none", "true")
		e.Format = formats[s.current].name
		r.head, r.empty = *e.Clone(), true
		r.head.Hits = nil
	}
	s.own()
	s.quiet(l, 10)
	return true
}

func (r *gpuCSV) setColumns(cols []*gpuColumn, line int) {
	r.cols, r.seen, r.procs = cols, line, false
	for _, c := range cols {
		r.procs = r.procs || c.key == "pid"
	}
}

// asked sets the columns from a command that was seen on a line: rows without
// header may follow it.
func (r *gpuCSV) asked(argv string, line int) {
	for _, flag := range []string{"--query-gpu=", "--query-gpu ", "--query-compute-apps=", "--query-compute-apps "} {
		_, list, ok := strings.Cut(argv, flag)
		if !ok {
			continue
		}
		list, _, _ = strings.Cut(strings.TrimLeft(list, " \"'"), " ")
		var cols []*gpuColumn
		for _, name := range strings.Split(strings.Trim(list, "\"'"), ",") {
			c := columnOf([]byte(name))
			if c == nil {
				return
			}
			cols = append(cols, c)
		}
		r.setColumns(cols, line)
		return
	}
}

// row reads a line by the columns. Numbers tell a row from text that happens to
// have as many commas.
func (r *gpuCSV) row(l *line, s *scan) int {
	fields := r.split(l.text)
	if n := len(fields) - len(r.cols); n > 0 {
		fields = r.rejoin(fields, n, l.text)
	}
	if len(fields) != len(r.cols) {
		if r.cols[0].use == useStamp && l.pos.Line == r.seen+1 && isCSVStamp(fields[0]) && len(fields) < len(r.cols) {
			return -1 // cut in the middle
		}
		return 0
	}
	typed := 0
	for i, f := range fields {
		v := r.cols[i].check(f)
		if v < 0 {
			return 0
		}
		typed += v
	}
	if typed == 0 && l.pos.Line != r.seen+1 {
		return 0
	}
	kind := forensics.KindGPU
	if r.procs {
		kind = forensics.KindGPUProc
	}
	r.seen, r.empty = l.pos.Line, false
	e := s.event(l, kind)
	fillGPU(e, r.cols, fields)
	s.own()
	s.emit(e)
	r.facts(fields, l, s)
	return 10
}

// rejoin puts together a process name that holds commas.
func (r *gpuCSV) rejoin(fields [][]byte, n int, t []byte) [][]byte {
	for i, c := range r.cols {
		if !r.procs || c.key != "name" || i+n >= len(fields) {
			continue
		}
		first, last := fields[i], fields[i+n]
		from := bytes.Index(t, first)
		to := bytes.LastIndex(t, last)
		if from < 0 || to < from {
			return fields
		}
		fields[i] = t[from : to+len(last)]
		return append(fields[:i+1], fields[i+n+1:]...)
	}
	return fields
}

// facts emits the driver's version, once.
func (r *gpuCSV) facts(fields [][]byte, l *line, s *scan) {
	for i, c := range r.cols {
		if c.use == useFact && string(fields[i]) != r.driver {
			r.driver = string(fields[i])
			e := s.event(l, forensics.KindEnv)
			e.Hits = nil
			put(e, c.key, r.driver)
			s.emit(e)
		}
	}
}

// check says whether a field fits the column: 1 if it proves it, 0 if it may, -1
// if it does not.
func (c *gpuColumn) check(f []byte) int {
	if absent, _ := gpuAbsent(f); absent {
		return 0
	}
	ok := true
	switch c.use {
	case useStamp:
		ok = isCSVStamp(f)
	case useCount:
		ok = digits(f, 0, len(f)) >= 0
	case useBus:
		_, ok = busID(f)
	case useValue:
		_, ok = gpuNumber(f)
	case useMask:
		_, ok = hexMask(f)
	case useBit:
		ok = string(f) == "Active" || string(f) == "Not Active"
	default:
		return 0
	}
	if !ok {
		return -1
	}
	return 1
}

func isCSVStamp(f []byte) bool {
	_, n := dateTime(f)
	return n > 0 && n == len(f)
}

// fillGPU puts the fields of a row into the event.
func fillGPU(e *forensics.Event, cols []*gpuColumn, fields [][]byte) {
	mask := 0
	for i, c := range cols {
		f := fields[i]
		switch c.use {
		case useStamp:
			if st, n := dateTime(f); n > 0 {
				e.Stamp = st
			}
		case useText, useCount:
			gpuText(e, c.key, f)
		case useBus:
			if bus, ok := busID(f); ok {
				put(e, c.key, bus)
			}
		case useValue:
			if c.key != "memory_mib" {
				gpuMeasure(e, c.key, f)
			} else if x, unit, ok := quantity(f); ok && x >= 0 {
				put(e, c.key, view(bytes.TrimSpace(bytes.TrimSuffix(f, unit))))
			}
		case useMask:
			if m, ok := hexMask(f); ok {
				e.Values = append(e.Values, forensics.Value{Name: c.key, X: float64(m)})
			}
		case useBit:
			if string(f) == "Active" {
				mask |= c.bit
			}
		}
	}
	if _, have := e.Value(forensics.ValGPUReasons); mask != 0 && !have {
		e.Values = append(e.Values, forensics.Value{Name: forensics.ValGPUReasons, X: float64(mask)})
	}
}
