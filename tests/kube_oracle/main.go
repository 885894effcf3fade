// Command kube_oracle asks the real kube-scheduler plugins what they think of
// pods and nodes given as JSON. See README.md.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
)

const extraKinds = "Services, ReplicaSets, VolumeAttachments, CSIDrivers and CSIStorageCapacities"

const usage = `usage:
  kube_oracle answer [--with-question] < questions > answers
  kube_oracle gen [--seed S] [--count N] [--extra] > questions
  kube_oracle stats < answers`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s", usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	// Selectors may hold '<' and the like; leave them readable.
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)

	switch args[0] {
	case "answer":
		both := flags.Bool("with-question", false, `print {"question":..., "answer":...}`)
		flags.Parse(args[1:])
		return eachLine(os.Stdin, func(line []byte) error {
			q := &Question{}
			if err := json.Unmarshal(line, q); err != nil {
				return err
			}
			a, err := answer(q)
			if err != nil {
				return err
			}
			if !*both {
				return enc.Encode(a)
			}
			return enc.Encode(struct {
				Question *Question `json:"question"`
				Answer   *Answer   `json:"answer"`
			}{q, a})
		})
	case "gen":
		seed := flags.Uint64("seed", 1, "same seed, same questions")
		count := flags.Int("count", 100, "number of questions")
		extra := flags.Bool("extra", false, "also generate "+extraKinds)
		flags.Parse(args[1:])
		for i := range *count {
			if err := enc.Encode(generate(*seed, i, *extra)); err != nil {
				return err
			}
		}
		return nil
	case "stats":
		flags.Parse(args[1:])
		return stats(os.Stdin, out)
	}
	return fmt.Errorf("%s", usage)
}

// eachLine has no limit on the length of a line, unlike bufio.Scanner.
func eachLine(in io.Reader, do func([]byte) error) error {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			if err := do(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
