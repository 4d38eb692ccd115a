package parse

import "github.com/llmforensics/forensics"

// best returns the format that the source is named after, -1 if none. Formats
// whose lines stand in files of all kinds count only if no other does. So do
// lines that only have a shape which several loggers share, unless the file is
// full of them.
func (s *scan) best() int {
	best := -1
	for i, n := range s.score {
		if n > 0 && (best < 0 || formats[best].weak && !formats[i].weak || n > s.score[best] && (formats[best].weak || !formats[i].weak)) {
			best = i
		}
	}
	vague := loggerFormat(styleSGLang)
	switch {
	case best >= 0 && formats[best].role == forensics.RoleGPU:
		if i := s.transcript(); i >= 0 && (s.prompts() >= 2 || s.claims[i] >= s.claims[best]) {
			return i
		}
	case (best < 0 || formats[best].weak) && s.vague >= 3 && int64(s.vague)*2 > s.src.Lines.Read:
		return vague
	case best < 0 && int64(s.vague)*4 > s.src.Lines.Read:
		return vague
	}
	return best
}

// transcript returns the shell's format if there are rows that only a shell's
// transcript has, -1 if not: what the commands printed is most of its lines.
func (s *scan) transcript() int {
	for i, r := range s.readers {
		if sh, ok := r.(*shell); ok && s.claims[i] > 0 && (sh.prompts > 0 || sh.rows > 0) {
			return i
		}
	}
	return -1
}

func (s *scan) prompts() int {
	for _, r := range s.readers {
		if sh, ok := r.(*shell); ok {
			return sh.prompts
		}
	}
	return 0
}
