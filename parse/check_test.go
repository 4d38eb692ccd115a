package parse

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/llmforensics/forensics"
)

// checkText holds for any text what is promised of every reader: it does not
// panic, lines add up, lines are within the source, and the events are the same
// however the bytes arrive.
func checkText(t *testing.T, text string) {
	if len(text) > 1<<16 {
		return
	}
	events, src := readText(t, text, nil)
	if n := src.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
		t.Errorf("lines %+v do not add up", n)
	}
	for _, e := range events {
		if e.Pos.Line < 1 || int64(e.Pos.Line) > src.Lines.Read || e.Lines < 1 {
			t.Errorf("event %s at line %d of %d spans %d lines", e.Kind, e.Pos.Line, src.Lines.Read, e.Lines)
		}
	}
	chunked, src2 := readText(t, text, func(r io.Reader) io.Reader {
		return &chunkReader{r: r, rand: rand.New(rand.NewPCG(1, uint64(len(text))))}
	})
	if got, want := dump(chunked, src2), dump(events, src); got != want {
		t.Errorf("events depend on how the bytes arrive:\n got %s\nwant %s", got, want)
	}
}

// chunkReader hands out a few bytes at a time.
type chunkReader struct {
	r    io.Reader
	rand *rand.Rand
}

func (c *chunkReader) Read(p []byte) (int, error) {
	return c.r.Read(p[:min(len(p), 1+c.rand.IntN(50))])
}

// TestUndecodable reads text in every broken encoding.
func TestUndecodable(t *testing.T) {
	utf16 := []byte{0xff, 0xfe}
	for _, c := range []byte(decodeLine + "\n") {
		utf16 = append(utf16, c, 0)
	}
	tests := []struct {
		name string
		data []byte
		want forensics.LineCount
	}{
		{"UTF-16 with mark", utf16, forensics.LineCount{Read: 1, Understood: 1}},
		{"UTF-16 without mark", utf16[2:], forensics.LineCount{Read: 1, Understood: 1}},
		{"UTF-8 with mark", []byte("\xef\xbb\xbf" + decodeLine), forensics.LineCount{Read: 1, Understood: 1}},
		{"a stray zero byte", []byte(decodeLine + "\n\x00\nplain\n"), forensics.LineCount{Read: 3, Understood: 2, Plain: 1}},
		{"cut UTF-8", []byte("caf\xc3\nplain\n"), forensics.LineCount{Read: 2, Plain: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, src := readText(t, string(bytes.Clone(tt.data)), nil)
			if src.Lines != tt.want {
				t.Errorf("lines %+v, want %+v", src.Lines, tt.want)
			}
		})
	}
}

func discard(*forensics.Event) {}
