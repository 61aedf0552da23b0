package main

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

func histories(t *testing.T, directory string) []string {
	names, err := filepath.Glob(filepath.Join("testdata", directory, "*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no histories in %s: %v", directory, err)
	}
	return names
}

func runs(arguments ...string) (int, string, string) {
	var out, errors strings.Builder
	code := run(arguments, &out, &errors)
	return code, out.String(), errors.String()
}

func TestAcceptsWhatIsLinearizable(t *testing.T) {
	for _, name := range histories(t, "accepted") {
		if code, out, errors := runs(name); code != isLinearizable || !strings.Contains(out, ": OK: ") {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, errors)
		}
	}
}

func TestRefusesWhatIsNot(t *testing.T) {
	for _, name := range histories(t, "refused") {
		code, out, errors := runs(name)
		if code != isWrongHistory || !strings.Contains(out, "not linearizable: ") {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, errors)
		}
	}
}

func TestSaysWhatIsWrongWithBadInput(t *testing.T) {
	for _, name := range append(histories(t, "bad"), "testdata/none.jsonl") {
		code, out, errors := runs(name)
		if code != isBadInput || out != "" || !strings.HasPrefix(errors, name+": ") {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, errors)
		}
	}
}

func TestSaysHowItIsUsed(t *testing.T) {
	for _, arguments := range [][]string{{}, {"--colour"}, {"--limit", "0s", "x"}, {"--limit", "x"}} {
		if code, _, errors := runs(arguments...); code != isBadInput || !strings.Contains(errors, "usage: ") {
			t.Errorf("%v: exit %d\n%s", arguments, code, errors)
		}
	}
	if code, _, errors := runs("--help"); code != 0 || errors != usage {
		t.Errorf("exit %d\n%s", code, errors)
	}
}

func TestReturnsTheWorstOfSeveral(t *testing.T) {
	good := histories(t, "accepted")[0]
	wrong := histories(t, "refused")[0]
	bad := histories(t, "bad")[0]
	for worst, names := range map[int][]string{
		isLinearizable: {good, good}, isWrongHistory: {wrong, good}, isBadInput: {bad, wrong, good},
	} {
		if code, _, _ := runs(names...); code != worst {
			t.Errorf("%v: exit %d", names, code)
		}
	}
}

func TestDrawsForABrowser(t *testing.T) {
	html := filepath.Join(t.TempDir(), "history.html")
	runs("--html", html, "testdata/refused/rename-done-twice.jsonl")
	drawn, err := os.ReadFile(html)
	if err != nil || !strings.Contains(string(drawn), "rename /a to /b") {
		t.Errorf("%v: %d bytes", err, len(drawn))
	}
}

func TestExplainsInFewOperations(t *testing.T) {
	for name, expected := range map[string]string{
		"rename-done-twice":          "{/a (2), /b (1)}: read /b",
		"delete-comes-back":          "{}: read /a",
		"old-read-after-newer-write": "{/a (2)}: read /a",
		"before-it-began":            "{}: read /a",
		"two-creates-win":            "{}: create /a, create /a",
		"unknown-then-wrong":         "{/a (1)} or {/a (1, empty)} or {}: read /a",
	} {
		in, err := os.Open(filepath.Join("testdata", "refused", name+".jsonl"))
		if err != nil {
			t.Error(err)
			continue
		}
		history, err := readHistory(in)
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		core := explain(history, shrinkLimit)
		for _, o := range core.known {
			word := strings.FieldsFunc(describe(o.call, o.result), func(r rune) bool {
				return r == ',' || r == '(' || r == ':'
			})[0]
			words = append(words, strings.TrimSpace(word))
		}
		var states []string
		for _, state := range core.states {
			states = append(states, state.String())
		}
		sort.Strings(states)
		said := strings.Join(states, " or ") + ": " + strings.Join(words, ", ")
		if said != expected {
			t.Errorf("%s: %s", name, said)
		}
		if !core.isWrong(core.known) {
			t.Errorf("%s: what explains it is not wrong", name)
		}
	}
}
