//go:build unix

package parse

import "syscall"

func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
