package parse

import (
	"bytes"
	"math"

	"github.com/llmforensics/forensics"
)

// quiet claims a line that makes no event of its own. A signature may still have
// matched it, and then it is kept.
func (s *scan) quiet(l *line, weight int) int {
	if len(l.hits) > 0 {
		s.emit(s.event(l, forensics.KindLine))
	}
	return weight
}

// put adds an attribute that has a value.
func put(e *forensics.Event, key, value string) {
	if value != "" {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: key, Value: value})
	}
}

// busID reads a PCI address at the start of b as nvidia-smi ("00000000:9B:00.0")
// and the kernel ("0000:9b:00") print it, and returns the form that both share:
// four digits of domain, lower case, no function.
func busID(b []byte) (string, bool) {
	d := 0
	for d < len(b) && isHex(b[d]) {
		d++
	}
	if d < 4 || d > 8 || len(b) < d+6 || b[d] != ':' || b[d+3] != ':' {
		return "", false
	}
	for _, i := range []int{d + 1, d + 2, d + 4, d + 5} {
		if !isHex(b[i]) {
			return "", false
		}
	}
	return string(bytes.ToLower(b[d-4 : d+6])), true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// quantity reads a number and the unit behind it: "2163MiB", "100 %", "65C".
func quantity(b []byte) (x float64, unit []byte, ok bool) {
	b = bytes.TrimSpace(b)
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.') {
		i++
	}
	if x, ok = number(b[:i]); !ok || math.IsInf(x, 0) {
		return 0, nil, false
	}
	return x, bytes.TrimSpace(b[i:]), true
}

// gpuUnits are the units that nvidia-smi prints behind the numbers that are
// kept.
var gpuUnits = []string{"", "%", "MiB", "MB", "W", "MHz", "C"}

// gpuNumber reads a cell that should hold a number with one of nvidia-smi's units.
func gpuNumber(b []byte) (float64, bool) {
	x, unit, ok := quantity(b)
	if !ok {
		return 0, false
	}
	for _, u := range gpuUnits {
		if string(unit) == u {
			return x, true
		}
	}
	return 0, false
}

// gpuMissing are the cells that stand for "the card does not tell".
var gpuMissing = []string{
	"N/A", "[N/A]", "-", "", "Not Supported", "[Not Supported]", "[Not Found]", "Not Found", "Off",
	"[Insufficient Permissions]", "Insufficient Permissions", "[Unknown]", "Function Not Found",
}

// gpuFaults are the cells that tell of a card in trouble.
var gpuFaults = []string{
	"ERR!", "Unknown Error", "[Unknown Error]", "[GPU is lost]", "GPU is lost", "[GPU requires reset]",
	"GPU requires reset", "[Reset Required]",
}

// gpuAbsent says whether a cell holds no value, and which fault it names.
func gpuAbsent(b []byte) (absent bool, fault string) {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		return false, "" // nearly all cells
	}
	for _, f := range gpuFaults {
		if string(b) == f {
			return true, string(bytes.Trim([]byte(f), "[]"))
		}
	}
	for _, m := range gpuMissing {
		if string(b) == m {
			return true, ""
		}
	}
	return false, ""
}

// noteFault reports whether a cell holds no value, and keeps the fault it names.
func noteFault(e *forensics.Event, cell []byte) bool {
	absent, fault := gpuAbsent(cell)
	if fault != "" && e.Attr("err") == "" {
		put(e, "err", fault)
	}
	return absent
}

// gpuMeasure adds the number in a cell to the event, or the fault it tells of.
// Of two cells for one value the first that holds a number counts.
func gpuMeasure(e *forensics.Event, name string, cell []byte) {
	if noteFault(e, cell) {
		return
	}
	if _, have := e.Value(name); have {
		return
	}
	if x, ok := gpuNumber(cell); ok {
		e.Values = append(e.Values, forensics.Value{Name: name, X: x})
	}
}

// gpuText adds the text of a cell as an attribute, or the fault it tells of.
func gpuText(e *forensics.Event, key string, cell []byte) {
	if !noteFault(e, cell) {
		put(e, key, view(bytes.TrimSpace(cell)))
	}
}

// clockReasons are the bits of clocks_event_reasons.active (NVML's
// nvmlClocksEventReason constants) and the names of the bits in the CSV columns
// and XML elements (name) and in `nvidia-smi -q` (label).
var clockReasons = []struct {
	bit         int
	name, label string
}{
	{0x1, "gpu_idle", "Idle"},
	{0x2, "applications_clocks_setting", "Applications Clocks Setting"},
	{0x4, "sw_power_cap", "SW Power Cap"},
	{0x8, "hw_slowdown", "HW Slowdown"},
	{0x10, "sync_boost", "Sync Boost"},
	{0x20, "sw_thermal_slowdown", "SW Thermal Slowdown"},
	{0x40, "hw_thermal_slowdown", "HW Thermal Slowdown"},
	{0x80, "hw_power_brake_slowdown", "HW Power Brake Slowdown"},
	{0x100, "display_clocks_setting", "Display Clock Setting"},
}

// reasonNames lists the names of the bits of a mask.
func reasonNames(mask int) string {
	out := ""
	for _, r := range clockReasons {
		if mask&r.bit != 0 {
			if out != "" {
				out += ","
			}
			out += r.name
		}
	}
	return out
}

// hexMask reads "0x0000000000000004".
func hexMask(b []byte) (int, bool) {
	h, ok := bytes.CutPrefix(bytes.TrimSpace(b), []byte("0x"))
	if !ok || len(h) == 0 || len(h) > 16 {
		return 0, false
	}
	v := 0
	for _, c := range h {
		d := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if d < 0 || v > math.MaxInt>>4 {
			return 0, false
		}
		v = v<<4 | d
	}
	return v, true
}
