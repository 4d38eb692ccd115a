package parse

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llmforensics/forensics"
)

var updateSystem = flag.Bool("update-system", false, "rewrite testdata/gpu/*.golden and testdata/system/*.golden")

// goldenDir holds the events of every file of a folder against a golden file,
// read once by eye. -update-system rewrites them.
func goldenDir(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if filepath.Ext(name) == ".golden" {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			in, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := dump(readText(t, string(in), nil))
			golden := name + ".golden"
			if *updateSystem {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			diffLines(t, got, string(want))
		})
	}
}

// TestGPUGolden reads real output of one H200, of two, and of a machine with a
// card in trouble.
func TestGPUGolden(t *testing.T) { goldenDir(t, "gpu") }

// dumpOf returns the events of a text without positions and without the last
// line, which counts lines.
func dumpOf(t *testing.T, text string) []string {
	t.Helper()
	events, src := readText(t, text, nil)
	if n := src.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
		t.Errorf("lines %+v do not add up", n)
	}
	var out []string
	for _, e := range events {
		line := strings.SplitN(dump([]*forensics.Event{e}, src), "\n", 2)[0]
		_, line, _ = strings.Cut(line, " ")
		out = append(out, line)
	}
	return out
}

// eventCase is a text and its events, one a line.
type eventCase struct{ name, text, want string }

func runEventCases(t *testing.T, cases []eventCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			diffLines(t, strings.Join(dumpOf(t, c.text), "\n"), strings.TrimSpace(c.want))
		})
	}
}

const box525 = `Tue Mar 14 10:00:00 2023       
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|                               |                      |               MIG M. |
|===============================+======================+======================|
|   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                    3 |
| N/A   30C    P0    51W / 400W |  11234MiB / 40960MiB |      7%      Default |
|                               |                      |             Disabled |
+-------------------------------+----------------------+----------------------+
`

const box390 = `+-----------------------------------------------------------------------------+
| NVIDIA-SMI 390.77                 Driver Version: 390.77                    |
|-------------------------------+----------------------+----------------------+
|   0  GeForce GTX 980     Off  | 00000000:01:00.0 N/A |                  N/A |
| 26%   35C    P8    N/A /  N/A |    100MiB /  4043MiB |     N/A      Default |
+-------------------------------+----------------------+----------------------+
+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      1234    C+G   /opt/my app/python                          100MiB |
+-----------------------------------------------------------------------------+
`

func TestGPUTables(t *testing.T) {
	runEventCases(t, []eventCase{
		{"driver 525", box525, `mark
environment driver_version="525.85.12" cuda_version="12.0"
gpu index="0" name="NVIDIA A100-SXM..." bus="0000:07:00" ecc="3" perf="P0" gpu_temperature=30 gpu_power=51 gpu_power_limit=400 gpu_memory_used=11234 gpu_memory_total=40960 gpu_utilization=7`},
		{"driver 390", box390, `environment driver_version="390.77"
gpu index="0" name="GeForce GTX 980" bus="0000:01:00" perf="P8" gpu_temperature=35 gpu_memory_used=100 gpu_memory_total=4043
gpu-process index="0" pid="1234" name="/opt/my app/python" memory_mib="100" type="C+G"`},
		{"cut after the first row", strings.Join(strings.Split(box525, "\n")[7:9], "\n"),
			`gpu index="0" name="NVIDIA A100-SXM..." bus="0000:07:00" ecc="3"`},
		{"other boxes", "| a table of something else | that is not nvidia-smi's                | here |\n+------+\n", ""},
		{"cannot reach the driver", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
			`environment nvidia_smi_error="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."`},
		{"device handle", "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n",
			`environment nvidia_smi_error="Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error"`},
	})
}

func TestGPUCSV(t *testing.T) {
	runEventCases(t, []eventCase{
		{"faults", "index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks_throttle_reasons.active\n" +
			"0, NVIDIA H100, [Not Supported], 12 MiB, [N/A], 0x0000000000000044\n1, NVIDIA H100, ERR!, [GPU requires reset], 70.00 W, [N/A]\n",
			`gpu index="0" name="NVIDIA H100" gpu_memory_used=12 gpu_reasons=68
gpu index="1" name="NVIDIA H100" err="ERR!" gpu_power=70`},
		{"header again", "index, memory.used [MiB]\n0, 1 MiB\nindex, memory.used [MiB]\n0, 2 MiB\n",
			"gpu index=\"0\" gpu_memory_used=1\ngpu index=\"0\" gpu_memory_used=2"},
		{"single reasons", "index, clocks_event_reasons.sw_power_cap, clocks_event_reasons.hw_thermal_slowdown\n0, Active, Active\n",
			`gpu index="0" gpu_reasons=68`},
		{"no header, no units, columns from the command", "$ nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv,noheader,nounits\n0, 12, 81559\n1, 13, 81559\n",
			`command argv="nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv,noheader,nounits"
gpu index="0" gpu_memory_used=12 gpu_memory_total=81559
gpu index="1" gpu_memory_used=13 gpu_memory_total=81559`},
		{"no header, by units", "2026/11/30 20:59:44.751, 3, NVIDIA H200, 97 %, 22 %, 143771 MiB, 2163 MiB, 689.71 W, 700.00 W, 1485 MHz, 0x0000000000000004\n",
			`gpu index="3" name="NVIDIA H200" columns="inferred" gpu_utilization=97 gpu_memory_total=143771 gpu_memory_used=2163 gpu_power=689.71 gpu_power_limit=700 gpu_clock=1485 gpu_reasons=4`},
		{"processes without header", "463, python3, 2154 MiB\n", `gpu-process pid="463" name="python3" memory_mib="2154" columns="inferred"`},
		{"process name with commas", "pid, process_name, used_gpu_memory [MiB]\n463, sglang::scheduler, a, b, 2154 MiB\n",
			`gpu-process pid="463" name="sglang::scheduler, a, b" memory_mib="2154"`},
		{"no process", "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n$ date\n", "gpu-process none=\"true\"\ncommand argv=\"date\""},
		{"numbers without units stay unread", "0, 0\n128, 32, 4\n1, 2, 3 apples\n", ""},
		{"not a header", "name, the first of many, is here\nindex out of range, aborting\n", ""},
	})
	_, src := readText(t, "timestamp, index, memory.used [MiB]\n2026/11/30 20:59:44.751, 0, 12 MiB\n2026/11/30 20:59:45.751, 0\n", nil)
	if src.Lines.Damaged != 1 {
		t.Errorf("a row that is cut: lines %+v, want one damaged", src.Lines)
	}
}

func TestGPUQuery(t *testing.T) {
	events, _ := readText(t, "==============NVSMI LOG==============\n\nAttached GPUs                             : 4\nGPU 00000000:9C:00.0\n    ECC Errors\n        Volatile\n"+
		"            DRAM Uncorrectable            : 1\n        Aggregate\n            DRAM Uncorrectable            : 12\n    Remapped Rows\n        Pending                           : Yes\n", nil)
	if len(events) != 1 {
		t.Fatalf("got %d events, want 1", len(events))
	}
	for key, want := range map[string]string{"bus": "0000:9c:00", "ecc": "1", "ecc_aggregate": "12", "remapped_pending": "Yes", "index": ""} {
		if got := events[0].Attr(key); got != want {
			t.Errorf("attribute %s: got %q, want %q", key, got, want)
		}
	}
}

func FuzzGPU(f *testing.F) {
	seedDir(f, "gpu")
	f.Add(box525)
	f.Add(box390)
	f.Fuzz(checkReading)
}

func seedDir(f *testing.F, dir string) {
	names, _ := filepath.Glob(filepath.Join("testdata", dir, "*"))
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && filepath.Ext(name) != ".golden" {
			f.Add(string(b))
		}
	}
}

func BenchmarkGPUCSV(b *testing.B) {
	head := "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], temperature.gpu, clocks_event_reasons.active\n"
	row := "2026/11/30 20:59:57.016, 0, NVIDIA H200, 100 %, 2163 MiB, 689.71 W, 65, 0x0000000000000004\n"
	benchmarkText(b, head+strings.Repeat(row, 2000))
}

func benchmarkText(b *testing.B, text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	r := NewReader(Options{})
	for b.Loop() {
		if _, err := r.Read(textInput(text), 0, func(*forensics.Event) {}); err != nil {
			b.Fatal(err)
		}
	}
}
