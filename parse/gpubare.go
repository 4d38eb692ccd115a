package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// bareColumns infers the columns of a CSV row from the shape of its fields, for
// output that has neither header nor command: "0, 0 MiB" is a GPU and the memory
// in use. What cannot be told apart stays unknown.
type bareColumns struct {
	cols  []*gpuColumn
	sizes []int // columns in MiB
	watts int
	units int // columns whose unit proves that nvidia-smi wrote the row
	pid   bool
}

var (
	bareNone = &gpuColumn{}
	// gpuMakes are the beginnings of the product names that nvidia-smi prints.
	gpuMakes = []string{"NVIDIA ", "Tesla ", "GeForce ", "Quadro ", "GRID ", "TITAN ", "A100", "H100", "GH200", "Graphics Device"}
)

// maxIndex is the largest number that is taken for a GPU's index rather than for
// a process id.
const maxIndex = 63

// bare reads a row without a header.
func (r *gpuCSV) bare(l *line, s *scan) int {
	t := l.text
	if !bareStart(t) {
		return 0
	}
	fields := r.split(t)
	if len(fields) < 2 || len(fields) > 32 {
		return 0
	}
	var b bareColumns
	for i, f := range fields {
		c := b.infer(i, f)
		if c == nil {
			return 0
		}
		b.cols = append(b.cols, c)
	}
	if b.units == 0 {
		return 0
	}
	b.memory(fields)
	kind := forensics.KindGPU
	if b.pid {
		kind = forensics.KindGPUProc
	}
	e := s.event(l, kind)
	fillGPU(e, b.cols, fields)
	put(e, "columns", "inferred")
	s.emit(e)
	return 3
}

// bareStart is the cheap test: a short number, a date, or a card's name or id,
// and a comma behind it.
func bareStart(t []byte) bool {
	switch {
	case t[0] >= '0' && t[0] <= '9':
		i := 1
		for i < len(t) && i < 8 && t[i] >= '0' && t[i] <= '9' {
			i++
		}
		if i == 4 && i < len(t) && t[i] == '/' {
			return bytes.IndexByte(t[:min(len(t), 26)], ',') > 0
		}
		return i < len(t) && (t[i] == ',' || t[i] == ' ' && i+1 < len(t) && bytes.IndexByte([]byte("%MW"), t[i+1]) >= 0)
	case bytes.HasPrefix(t, []byte("GPU-")):
		return true
	}
	return isGPUName(t)
}

func isGPUName(f []byte) bool {
	for _, m := range gpuMakes {
		if f[0] == m[0] && bytes.HasPrefix(f, []byte(m)) {
			return true
		}
	}
	return false
}

// infer returns the column that a field belongs to, nil if it is no field of
// nvidia-smi's.
func (b *bareColumns) infer(i int, f []byte) *gpuColumn {
	if len(f) == 0 {
		return nil
	}
	if absent, _ := gpuAbsent(f); absent {
		return bareNone
	}
	if x, unit, ok := quantity(f); ok {
		return b.number(i, f, x, string(unit))
	}
	switch {
	case bytes.HasPrefix(f, []byte("GPU-")) && len(f) > 20:
		b.units++
		return gpuColumns["uuid"]
	case isGPUName(f):
		return gpuColumns["name"]
	case f[0] == 'P' && len(f) <= 3 && digits(f, 1, len(f)-1) >= 0:
		return gpuColumns["pstate"]
	case b.pid:
		return gpuColumns["process_name"]
	}
	// An id or a process name behind a small number: "0, python3, 2154 MiB" is not
	// something that nvidia-smi prints.
	return nil
}

// number infers the column of a field that begins with a number.
func (b *bareColumns) number(i int, f []byte, x float64, unit string) *gpuColumn {
	switch {
	case unit == "%":
		b.units++
		return b.once(gpuColumns["utilization.gpu"])
	case unit == "MiB":
		b.units++
		b.sizes = append(b.sizes, i)
		return bareNone
	case unit == "W":
		b.units++
		b.watts++
		if b.watts == 2 {
			return gpuColumns["power.limit"]
		}
		return b.once(gpuColumns["power.draw"])
	case unit == "MHz":
		b.units++
		return b.once(gpuColumns["clocks.current.sm"])
	case unit == "":
		if i == 0 && x <= maxIndex || i == 1 && b.cols[0].use == useStamp {
			return gpuColumns["index"]
		}
		if i == 0 || i == 1 && b.cols[0].key == "uuid" {
			b.pid = true
			return gpuColumns["pid"]
		}
		return bareNone
	}
	if _, ok := hexMask(f); ok {
		b.units++
		return gpuColumns["clocks_event_reasons.active"]
	}
	if _, ok := busID(f); ok {
		return gpuColumns["pci.bus_id"]
	}
	if isCSVStamp(f) && i == 0 {
		return gpuColumns["timestamp"]
	}
	return nil
}

// once returns the column unless an earlier field has it.
func (b *bareColumns) once(c *gpuColumn) *gpuColumn {
	for _, have := range b.cols {
		if have == c {
			return bareNone
		}
	}
	return c
}

// memory tells the memory columns apart: the largest is the total, the first of
// the others is what is in use.
func (b *bareColumns) memory(fields [][]byte) {
	if b.pid && len(b.sizes) > 0 {
		b.cols[b.sizes[0]] = gpuColumns["used_gpu_memory"]
		return
	}
	total := -1
	if len(b.sizes) > 1 {
		best := -1.0
		for _, i := range b.sizes {
			if x, _, _ := quantity(fields[i]); x >= best {
				best, total = x, i
			}
		}
		b.cols[total] = gpuColumns["memory.total"]
	}
	for _, i := range b.sizes {
		if i != total {
			b.cols[i] = gpuColumns["memory.used"]
			return
		}
	}
}
