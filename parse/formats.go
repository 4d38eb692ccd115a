package parse

import "github.com/llmforensics/forensics"

// reader recognises the lines of one format. Readers keep the state of open
// records (a table under way) and nothing else.
type reader interface {
	// line offers one line. It returns 0 if the line is not of this format, -1 if
	// it is but broken, and otherwise how telling the line is: 1 for shapes that
	// other formats share, 3 for the format's own, 10 for one that only it has.
	line(l *line, s *scan) int
	// end closes open records at the end of the source.
	end(s *scan)
}

// format is a row of the format table.
type format struct {
	name   string
	about  string // for docs/formats.md
	role   forensics.Role
	engine string
	logger style // the logger that only this format uses, if there is one
	new    func() reader
}

// formats is the table of formats, asked in this order. docs/formats.md is made
// from it.
var formats = []format{
	{name: "sglang-server", role: forensics.RoleServer, engine: "sglang", logger: styleSGLang,
		about: "SGLang server log, all versions of the prefix and of the batch lines",
		new:   func() reader { return &sglang{} }},
	{name: "http-access", role: forensics.RoleServer, logger: styleUvicorn,
		about: "uvicorn access and life-cycle lines, of any ASGI server",
		new:   func() reader { return &uvicorn{} }},
}

// loggerFormat returns the format that the dated lines of a logger count for, -1
// if the logger serves many.
func loggerFormat(st style) int {
	for i := range formats {
		if formats[i].logger == st {
			return i
		}
	}
	return -1
}
