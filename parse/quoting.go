package parse

// quotingStarts begin lines that repeat foreign text: request bodies, prompts,
// generated text, dumps of a scheduler's input. What they say about failures is
// somebody's prompt, not evidence.
var quotingStarts = []string{
	"Receive: obj=", // sglang/srt/managers/tokenizer_manager.py, with --log-requests
	"Finish: obj=",
	"Received request ", // vllm/entrypoints/logger.py
	"Generated response ",
	"Dumping input data", // vllm/logging_utils/dump_input.py, printed before a fatal error
	"Dumping scheduler output",
	"SchedulerOutput(",
	"[ SchedulerOutput(",
	"Request body:",
	"request body:",
	`{"generated_texts"`,
	`"generated_texts"`,
	"generated_texts",
	"Prompt: ",
	"prompt: ",
	"Generated text: ",
	"body: {",
}

// isQuoting reports whether a payload repeats foreign text.
func isQuoting(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case 'R', 'F', 'G', 'D', 'S', '[', 'r', '{', '"', 'g', 'P', 'p', 'b':
		return hasAnyPrefix(text, quotingStarts)
	}
	return false
}
