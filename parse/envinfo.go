package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// envInfo reads what engines print about the machine on request: SGLang's
// check_env ("python3 -m sglang.check_env") and the collect_env of PyTorch and
// vLLM. A few facts are kept, the rest is understood.
type envInfo struct {
	open bool
	last int
}

func (*envInfo) end(*scan) {}

// maxEnvGap is how many lines of no known shape may stand within a report:
// lscpu's, numactl's and the topology matrix's.
const maxEnvGap = 40

// envKeys maps the labels of both reports, in lower case, to facts.
var envKeys = map[string]string{
	"python": "python", "python version": "python", "pytorch": "torch", "pytorch version": "torch", "torch": "torch",
	"cuda available": "cuda_available", "is cuda available": "cuda_available", "cuda used to build pytorch": "torch_cuda",
	"cuda runtime version": "cuda_version", "nvcc": "nvcc", "cuda_home": "cuda_home", "cuda driver version": "driver_version",
	"nvidia driver version": "driver_version", "gpu models and configuration": "gpus", "sglang": "sglang", "sgl_kernel": "sgl_kernel",
	"flashinfer_python": "flashinfer", "flashinfer": "flashinfer", "triton": "triton", "transformers": "transformers", "vllm version": "vllm",
	"vllm": "vllm", "vllm build flags": "vllm_build", "os": "os", "gcc version": "gcc", "libc version": "libc", "hypervisor vendor": "hypervisor",
	"ulimit soft": "ulimit_n", "rocm used to build pytorch": "torch_rocm", "cudnn version": "cudnn", "nccl": "nccl", "xgrammar": "xgrammar",
}

// envPackages are the packages worth keeping of pip's and conda's lists.
var envPackages = map[string]string{
	"torch": "torch", "vllm": "vllm", "sglang": "sglang", "sgl-kernel": "sgl_kernel", "flashinfer-python": "flashinfer", "triton": "triton",
	"transformers": "transformers", "nvidia-nccl-cu12": "nccl", "nvidia-nccl-cu13": "nccl", "numpy": "numpy", "pytorch-triton": "triton",
}

// envStarts begin a report; both are lines that nothing else prints.
var envStarts = []string{"Collecting environment information...", "PyTorch version: ", "CUDA available: "}

func (r *envInfo) line(l *line, s *scan) int {
	if l.style != styleNone && l.style != styleISO {
		r.open = false
		return 0
	}
	t := bytes.TrimSpace(l.text)
	if len(t) < 4 {
		return 0
	}
	if r.open && l.pos.Line > r.last+maxEnvGap {
		r.open = false
	}
	if !r.open {
		if !isPythonLine(t) && !hasAnyPrefix(t, envStarts) {
			return 0
		}
		r.open, r.last = true, l.pos.Line
		if t[len(t)-1] == '.' {
			return s.quiet(l, 10)
		}
	}
	v := r.fact(t, l, s)
	if v > 0 {
		r.last = l.pos.Line
	}
	return v
}

// isPythonLine accepts check_env's first line, "Python: 3.12.3 (main, ...) [GCC
// 13.2.0]".
func isPythonLine(t []byte) bool {
	return bytes.HasPrefix(t, []byte("Python: 3.")) && bytes.Contains(t, []byte(" ("))
}

// fact reads "Key : value", "Key: value", "[pip3] name==version" and "[conda] name
// version".
func (r *envInfo) fact(t []byte, l *line, s *scan) int {
	if rest, ok := bytes.CutPrefix(t, []byte("[pip3] ")); ok {
		name, version, _ := bytes.Cut(rest, []byte("=="))
		return r.keep(envPackages[string(name)], version, l, s)
	}
	if rest, ok := bytes.CutPrefix(t, []byte("[conda] ")); ok {
		name, version := cutWord(rest)
		version, _ = cutWord(version)
		return r.keep(envPackages[string(name)], version, l, s)
	}
	i := bytes.IndexByte(t[:min(len(t), 60)], ':')
	if i < 2 || i+1 < len(t) && t[i+1] != ' ' {
		return 0
	}
	var buf [64]byte
	key := bytes.TrimSpace(lower(buf[:0], t[:i]))
	if bytes.HasPrefix(key, []byte("gpu ")) && len(key) > 4 && key[4] >= '0' && key[4] <= '9' && bytes.IndexByte(key[4:], ' ') < 0 {
		return r.keep("gpus", t, l, s)
	}
	name := envKeys[string(key)]
	if name == "" && !known(key) {
		return 0
	}
	return r.keep(name, bytes.TrimSpace(t[i+1:]), l, s)
}

// envQuiet are labels that are understood and not kept.
var envQuiet = wordSet("clang cmake architecture vendor bios model stepping cpu socket thread virtualization cache numa vulnerability " +
	"address byte on-line core max min bogomips flags l1d l1i l2 l3 hip miopen is python gpu versions rocm openai tiktoken anthropic aiohttp " +
	"fastapi numpy requests hf_transfer huggingface_hub interegular modelscope orjson packaging psutil pydantic multipart zmq torchao uvicorn uvloop " +
	"outlines decord hypervisor nvidia decord2 litellm compressed-tensors frequency caching libc nic gpu0 legend cuda")

// known reports whether a label's first word is one of the reports'.
func known(key []byte) bool {
	word, _ := cutWord(key)
	return envQuiet[string(bytes.TrimRight(word, "(s)"))] || envQuiet[string(word)]
}

func (r *envInfo) keep(name string, value []byte, l *line, s *scan) int {
	switch string(value) {
	case "", "N/A", "Could not collect", "Module Not Found", "Not Available":
		name = ""
	}
	if name == "" {
		return s.quiet(l, 1)
	}
	e := s.event(l, forensics.KindEnv)
	put(e, name, view(clipBytes(value, 200)))
	s.emit(e)
	return 10
}
