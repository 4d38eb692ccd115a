package report

import "github.com/llmforensics/forensics"

var gpuQuantities = []quantity{
	{forensics.ValGPUMemUsed, 1.0 / 1024, "GiB", 1},
	{forensics.ValGPUPower, 1, "W", 0},
	{forensics.ValGPUUtil, 1, "%", 100},
	{forensics.ValGPUClock, 1, "MHz", 0},
}

// gpuFigure draws what the devices did over time.
func gpuFigure(doc *Document) (*figure, string) {
	f := timeFigure(doc, gpuQuantities, "GPUs")
	if f == nil {
		return nil, ""
	}
	return f, "GPUs over time: " + peaks(doc, gpuQuantities) + failureWords(doc)
}

// capacity is the memory of the largest device in MiB, 0 if unknown.
func capacity(doc *Document) float64 {
	most := 0.0
	for _, g := range doc.GPUs {
		if g.MemoryMiB.IsSet() {
			most = max(most, float64(g.MemoryMiB))
		}
	}
	return most
}
