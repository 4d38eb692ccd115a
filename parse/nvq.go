package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

// nvq reads `nvidia-smi -q`, all of it, some sections (-d), or a few lines that
// grep left of it, and the XML form (-q -x). Sections are known by indentation:
// the same keys recur in different sections.
type nvq struct {
	open     bool
	xml      bool
	lastLine int
	stamp    forensics.Stamp
	attached string
	path     []nvqSection
	gpu      *nvqGPU
	proc     *forensics.Event // process under way, belongs to gpu
	done     []*forensics.Event
	gpus     int
	// fragmentOf is the heading that begins each GPU where grep left no other.
	fragmentOf string
}

// nvqSection is an open section and where its heading stands.
type nvqSection struct {
	indent int
	name   string
}

// nvqGPU is a GPU under way.
type nvqGPU struct {
	ev                  forensics.Event
	mask                int
	masked              bool
	volatile, aggregate float64
	ecc                 bool
}

const (
	nvqBanner = "==============NVSMI LOG=============="
	// nvqMinColumn is where the colons of the oldest drivers stand, or before.
	nvqMinColumn = 32
	nvqMaxGPUs   = 256
)

// nvqKey is a key in its section, as -q and the XML form name them. The section
// is the innermost one; "" stands for the GPU itself.
type nvqKey struct{ section, key string }

// nvqFields says what becomes of the values that are kept.
var nvqFields = map[nvqKey]*gpuColumn{
	{"", "Product Name"}:                               {use: useText, key: "name"},
	{"", "product_name"}:                               {use: useText, key: "name"},
	{"", "GPU UUID"}:                                   {use: useText, key: "uuid"},
	{"", "uuid"}:                                       {use: useText, key: "uuid"},
	{"", "Minor Number"}:                               {use: useText, key: "minor"},
	{"", "minor_number"}:                               {use: useText, key: "minor"},
	{"", "Performance State"}:                          {use: useText, key: "perf"},
	{"", "performance_state"}:                          {use: useText, key: "perf"},
	{"", "GPU Recovery Action"}:                        {use: useText, key: "recovery_action"},
	{"", "gpu_recovery_action"}:                        {use: useText, key: "recovery_action"},
	{"FB Memory Usage", "Total"}:                       {use: useValue, key: forensics.ValGPUMemTotal},
	{"fb_memory_usage", "total"}:                       {use: useValue, key: forensics.ValGPUMemTotal},
	{"FB Memory Usage", "Used"}:                        {use: useValue, key: forensics.ValGPUMemUsed},
	{"fb_memory_usage", "used"}:                        {use: useValue, key: forensics.ValGPUMemUsed},
	{"Utilization", "GPU"}:                             {use: useValue, key: forensics.ValGPUUtil},
	{"Utilization", "Gpu"}:                             {use: useValue, key: forensics.ValGPUUtil},
	{"utilization", "gpu_util"}:                        {use: useValue, key: forensics.ValGPUUtil},
	{"Temperature", "GPU Current Temp"}:                {use: useValue, key: forensics.ValGPUTemp},
	{"temperature", "gpu_temp"}:                        {use: useValue, key: forensics.ValGPUTemp},
	{"Power Readings", "Power Draw"}:                   {use: useValue, key: forensics.ValGPUPower},
	{"Power Readings", "Power Limit"}:                  {use: useValue, key: forensics.ValGPUPowerLimit},
	{"power_readings", "power_draw"}:                   {use: useValue, key: forensics.ValGPUPower},
	{"power_readings", "power_limit"}:                  {use: useValue, key: forensics.ValGPUPowerLimit},
	{"GPU Power Readings", "Power Draw"}:               {use: useValue, key: forensics.ValGPUPower},
	{"GPU Power Readings", "Average Power Draw"}:       {use: useValue, key: forensics.ValGPUPower},
	{"GPU Power Readings", "Instantaneous Power Draw"}: {use: useValue, key: forensics.ValGPUPower},
	{"GPU Power Readings", "Current Power Limit"}:      {use: useValue, key: forensics.ValGPUPowerLimit},
	{"gpu_power_readings", "power_draw"}:               {use: useValue, key: forensics.ValGPUPower},
	{"gpu_power_readings", "average_power_draw"}:       {use: useValue, key: forensics.ValGPUPower},
	{"gpu_power_readings", "instant_power_draw"}:       {use: useValue, key: forensics.ValGPUPower},
	{"gpu_power_readings", "current_power_limit"}:      {use: useValue, key: forensics.ValGPUPowerLimit},
	{"Clocks", "SM"}:                                   {use: useValue, key: forensics.ValGPUClock},
	{"clocks", "sm_clock"}:                             {use: useValue, key: forensics.ValGPUClock},
	{"Max Clocks", "SM"}:                               {use: useValue, key: forensics.ValGPUClockMax},
	{"max_clocks", "sm_clock"}:                         {use: useValue, key: forensics.ValGPUClockMax},
	{"Remapped Rows", "Correctable Error"}:             {use: useText, key: "remapped_correctable"},
	{"Remapped Rows", "Uncorrectable Error"}:           {use: useText, key: "remapped_uncorrectable"},
	{"Remapped Rows", "Pending"}:                       {use: useText, key: "remapped_pending"},
	{"Remapped Rows", "Remapping Failure Occurred"}:    {use: useText, key: "remapped_failure"},
	{"remapped_rows", "remapped_row_corr"}:             {use: useText, key: "remapped_correctable"},
	{"remapped_rows", "remapped_row_unc"}:              {use: useText, key: "remapped_uncorrectable"},
	{"remapped_rows", "remapped_row_pending"}:          {use: useText, key: "remapped_pending"},
	{"remapped_rows", "remapped_row_failure"}:          {use: useText, key: "remapped_failure"},
	{"Retired Pages", "Pending Page Blacklist"}:        {use: useText, key: "retired_pending"},
	{"retired_pages", "pending_retirement"}:            {use: useText, key: "retired_pending"},
	{"Fabric", "State"}:                                {use: useText, key: "fabric_state"},
	{"Fabric", "Status"}:                               {use: useText, key: "fabric_status"},
	{"fabric", "state"}:                                {use: useText, key: "fabric_state"},
	{"fabric", "status"}:                               {use: useText, key: "fabric_status"},
	{"MIG Mode", "Current"}:                            {use: useText, key: "mig"},
	{"mig_mode", "current_mig"}:                        {use: useText, key: "mig"},
	{"ECC Errors", "Unrepairable Memory"}:              {use: useText, key: "unrepairable"},
	{"Processes", "Process ID"}:                        {use: useCount, key: "pid"},
	{"Process ID", "Type"}:                             {use: useText, key: "type"},
	{"Process ID", "Name"}:                             {use: useText, key: "name"},
	{"Process ID", "Used GPU Memory"}:                  {use: useValue, key: "memory_mib"},
	{"process_info", "pid"}:                            {use: useCount, key: "pid"},
	{"process_info", "type"}:                           {use: useText, key: "type"},
	{"process_info", "process_name"}:                   {use: useText, key: "name"},
	{"process_info", "used_memory"}:                    {use: useValue, key: "memory_mib"},
}

func (r *nvq) end(s *scan) { r.close(s) }

func (r *nvq) line(l *line, s *scan) int {
	t := l.text
	if r.open && l.pos.Line > r.lastLine+1 {
		r.close(s)
	}
	var v int
	switch {
	case !r.open:
		v = r.begin(t, l)
	case r.xml:
		v = r.element(bytes.TrimSpace(t), l, s)
	default:
		v = r.text(t, l, s)
	}
	if v == 0 {
		r.close(s)
		return 0
	}
	r.lastLine = l.pos.Line
	if r.open {
		s.own()
	}
	return s.quiet(l, v)
}

// begin recognises the first line of a log, or a fragment of one.
func (r *nvq) begin(t []byte, l *line) int {
	if len(t) < 8 {
		return 0
	}
	switch t[0] {
	case '=':
		if string(bytes.TrimSpace(t)) == nvqBanner {
			r.open, r.xml = true, false
			return 10
		}
	case '<':
		if bytes.HasPrefix(t, []byte("<?xml ")) {
			r.open, r.xml = true, true
			return 1
		}
		if bytes.HasPrefix(t, []byte("<!DOCTYPE nvidia_smi_log")) || bytes.HasPrefix(t, []byte("<nvidia_smi_log>")) {
			r.open, r.xml = true, true
			return 10
		}
	case 'G':
		if bus, ok := gpuHeading(t); ok {
			r.open, r.xml = true, false
			r.startGPU(l, bus)
			return 10
		}
	case ' ':
		return r.fragment(t, l)
	}
	return 0
}

// nvqHeadings are the sections that are worth reading without the log around
// them, as `nvidia-smi -q | grep -A4 Fabric` prints them.
var nvqHeadings = []string{
	"Fabric", "ECC Errors", "Remapped Rows", "Clocks Event Reasons", "Clocks Throttle Reasons",
	"FB Memory Usage", "GPU Power Readings", "Power Readings", "Utilization",
}

func (r *nvq) fragment(t []byte, l *line) int {
	head, ok := bytes.CutPrefix(bytes.TrimRight(t, " "), []byte("    "))
	if !ok || len(head) == 0 || head[0] == ' ' {
		return 0
	}
	for _, h := range nvqHeadings {
		if string(head) == h {
			r.open, r.xml, r.fragmentOf = true, false, h
			r.startGPU(l, "")
			r.path = append(r.path[:0], nvqSection{indent: 4, name: h})
			return 3
		}
	}
	return 0
}

// gpuHeading reads "GPU 00000000:00:06.0".
func gpuHeading(t []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimRight(t, " "), []byte("GPU "))
	if !ok || bytes.IndexByte(rest, ' ') >= 0 {
		return "", false
	}
	return busID(rest)
}

// text reads a line of the indented form.
func (r *nvq) text(t []byte, l *line, s *scan) int {
	body := bytes.TrimLeft(t, " ")
	indent := len(t) - len(body)
	body = bytes.TrimRight(body, " ")
	if len(body) == 0 {
		return 1
	}
	if bus, ok := gpuHeading(t); ok {
		r.startGPU(l, bus)
		return 10
	}
	if string(body) == nvqBanner {
		r.close(s)
		r.open = true
		return 10
	}
	for n := len(r.path); n > 0 && r.path[n-1].indent >= indent; n-- {
		r.path = r.path[:n-1]
	}
	colon := bytes.Index(body, []byte(" : "))
	if colon < 0 && bytes.HasSuffix(body, []byte(" :")) {
		colon = len(body) - 2
	}
	if colon < 0 {
		if indent == 0 || len(body) > 60 || len(r.path) > 6 {
			return 0
		}
		if string(body) == r.fragmentOf {
			r.startGPU(l, "")
		}
		r.path = append(r.path, nvqSection{indent: indent, name: string(body)})
		return 3
	}
	if indent+colon < nvqMinColumn {
		return 0
	}
	key := string(bytes.TrimSpace(body[:colon]))
	r.set(key, bytes.TrimSpace(body[colon+2:]), l, s)
	r.path = append(r.path, nvqSection{indent: indent, name: key})
	return 3
}

// element reads a line of the XML form: one element, opened, closed, or both.
func (r *nvq) element(t []byte, l *line, s *scan) int {
	if len(t) == 0 || t[0] != '<' {
		return 1
	}
	close := bytes.IndexByte(t, '>')
	if close < 2 {
		return -1
	}
	tag := t[1:close]
	switch {
	case tag[0] == '?' || tag[0] == '!':
	case tag[0] == '/':
		if string(tag) == "/nvidia_smi_log" {
			r.close(s)
			return 10
		}
		if n := len(r.path); n > 0 {
			r.path = r.path[:n-1]
		}
	case bytes.HasPrefix(tag, []byte("gpu id=")):
		bus, _ := busID(bytes.Trim(tag[7:], `"`))
		r.startGPU(l, bus)
	case string(tag) == "nvidia_smi_log" || tag[len(tag)-1] == '/':
	case bytes.HasSuffix(t, []byte("</"+string(tag)+">")) && len(t) >= 2*len(tag)+5:
		r.set(string(tag), t[close+1:len(t)-len(tag)-3], l, s)
	default:
		if len(r.path) < 16 {
			r.path = append(r.path, nvqSection{name: string(tag)})
		}
		if string(tag) == "process_info" {
			r.proc = nil
		}
	}
	return 3
}

// section returns the innermost open section that holds key.
func (r *nvq) section() string {
	if n := len(r.path); n > 0 {
		return strings.TrimSpace(r.path[n-1].name)
	}
	return ""
}

// within reports whether a section of that name is open, in either spelling.
func (r *nvq) within(name string) bool {
	for _, p := range r.path {
		if strings.EqualFold(strings.ReplaceAll(p.name, "_", " "), name) {
			return true
		}
	}
	return false
}
