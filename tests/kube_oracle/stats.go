package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// stats counts, per plugin, how often it said something: over pods asked about.
func stats(in io.Reader, out io.Writer) error {
	type filterCount struct{ skipped, pre, some, all int }
	type scoreCount struct{ skipped, failed, same, differ int }
	filters, scores := map[string]*filterCount{}, map[string]*scoreCount{}
	filter := func(name string) *filterCount {
		if filters[name] == nil {
			filters[name] = &filterCount{}
		}
		return filters[name]
	}
	score := func(name string) *scoreCount {
		if scores[name] == nil {
			scores[name] = &scoreCount{}
		}
		return scores[name]
	}
	// Names of objects would make every reason unique.
	names := regexp.MustCompile(`"[^"]*"|(PVC|pod) \S+/\S+`)
	reasons := map[string]int{}
	note := func(name, code, where string, list []string) {
		text := names.ReplaceAllString(strings.Join(list, "; "), "${1}*")
		reasons[fmt.Sprintf("%s %s%s: %s", name, code, where, text)]++
	}
	questions, pods, scoredPods, scoredNodes := 0, 0, 0, 0
	err := eachLine(in, func(line []byte) error {
		// Takes recorded cases too.
		both := struct {
			Answer
			Wrapped *Answer `json:"answer"`
		}{}
		if err := json.Unmarshal(line, &both); err != nil {
			return err
		}
		a := &both.Answer
		if both.Wrapped != nil {
			a = both.Wrapped
		}
		questions++
		for _, p := range a.Pods {
			pods++
			if len(p.Scored) > 0 {
				scoredPods++
			}
			scoredNodes += len(p.Scored)
			for _, name := range p.Skip {
				filter(name).skipped++
			}
			for name, r := range p.PreFilter {
				filter(name).pre++
				note(name, r.Code, " (prefilter)", r.Reasons)
			}
			refused := map[string]int{}
			for _, byPlugin := range p.Filters {
				for name, r := range byPlugin {
					refused[name]++
					note(name, r.Code, "", r.Reasons)
				}
			}
			for name, n := range refused {
				// Nodes without any refusal are those scored, or nobody knows if a prefilter refused.
				if n == len(p.Filters) && len(p.Scored) == 0 {
					filter(name).all++
				} else {
					filter(name).some++
				}
			}
			for _, name := range p.SkippedScores {
				score(name).skipped++
			}
			for name := range p.ScoreErrors {
				score(name).failed++
			}
			for name, byNode := range p.Scores {
				same := true
				for _, v := range byNode {
					same = same && v == byNode[p.Scored[0]]
				}
				if same {
					score(name).same++
				} else {
					score(name).differ++
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "questions %d, pods %d, pods with a node left %d, nodes scored %d\n",
		questions, pods, scoredPods, scoredNodes)
	fmt.Fprintf(out, "\n%-34s %8s %10s %12s %11s\n",
		"filter (pods)", "skipped", "prefilter", "refuses some", "refuses all")
	for _, name := range sortedKeys(filters) {
		f := filters[name]
		fmt.Fprintf(out, "%-34s %8d %10d %12d %11d\n", name, f.skipped, f.pre, f.some, f.all)
	}
	fmt.Fprintf(out, "\n%-34s %8s %8s %8s %8s\n", "score (pods)", "skipped", "failed", "equal", "differ")
	for _, name := range sortedKeys(scores) {
		s := scores[name]
		fmt.Fprintf(out, "%-34s %8d %8d %8d %8d\n", name, s.skipped, s.failed, s.same, s.differ)
	}
	fmt.Fprintln(out)
	for _, r := range sortedKeys(reasons) {
		fmt.Fprintf(out, "%7d %s\n", reasons[r], r)
	}
	return nil
}
