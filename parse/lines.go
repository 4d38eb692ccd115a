package parse

import (
	"bytes"
	"errors"
	"io"
)

const (
	// blockSize is how much is read at once. Anything between 128 KiB and 1 MiB
	// is about as fast.
	blockSize = 256 << 10
	// MaxLine is the longest line kept, in bytes. The rest of a longer line is
	// skipped and the line is counted as damaged.
	MaxLine = 1 << 20
)

// physical is one line of the source as it stands in the file.
type physical struct {
	text   []byte // without the line feed; valid until the callback returns
	offset int64
	number int
	cut    bool // longer than MaxLine, text holds the beginning
	open   bool // last line of the source, without a line feed
}

// blockFn receives a block of whole lines before its lines are handed out.
type blockFn func(block []byte)

// readLines hands out the lines of r in order. onBlock, if not nil, sees every
// block of whole lines first, so that it can be scanned at once. Memory is
// bounded by MaxLine and blockSize, whatever the input. The error is that of
// reading; what was read before it has been handed out.
func readLines(r io.Reader, onBlock blockFn, fn func(physical, int)) error {
	buf := make([]byte, 0, blockSize*2)
	var offset int64
	number, skipping := 0, false
	for {
		if cap(buf)-len(buf) < blockSize {
			buf = append(make([]byte, 0, min(2*cap(buf), MaxLine+2*blockSize)), buf...)
		}
		n, err := io.ReadAtLeast(r, buf[len(buf):cap(buf)][:min(blockSize, cap(buf)-len(buf))], 1)
		buf = buf[:len(buf)+n]
		done := err != nil
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			err = nil
		}
		if skipping {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 && !done {
				offset += int64(len(buf))
				buf = buf[:0]
				continue
			}
			if i < 0 {
				return err
			}
			offset += int64(i + 1)
			buf = buf[:copy(buf, buf[i+1:])]
			skipping = false
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		cut := false
		if done {
			end = len(buf)
		} else if end == 0 && len(buf) >= MaxLine {
			end, cut, skipping = len(buf), true, true
		}
		if end > 0 {
			if onBlock != nil {
				onBlock(buf[:end])
			}
			number = splitBlock(buf[:end], offset, number, cut, fn)
			offset += int64(end)
			buf = buf[:copy(buf, buf[end:])]
		}
		if done {
			return err
		}
	}
}

// splitBlock hands out the lines of a block and returns the last line's number.
// The second argument of fn is the line's offset in the block.
func splitBlock(block []byte, offset int64, number int, cut bool, fn func(physical, int)) int {
	for at := 0; at < len(block); {
		line, open := block[at:], true
		next := len(block)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next, open = line[:i], at+i+1, false
		}
		number++
		over := len(line) > MaxLine
		if over {
			line = line[:MaxLine]
		}
		fn(physical{text: line, offset: offset + int64(at), number: number, cut: over || (cut && open), open: open && !cut}, at)
		at = next
	}
	return number
}
