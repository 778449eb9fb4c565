import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { size } from "../../../../../test/size.ts"
import { scratchDirectory } from "../../../../../test/tool-context.ts"
import { commandFacts } from "./command-facts.ts"
import { Disk } from "./disk.ts"
import { expandPattern } from "./file-pattern.ts"
import { readSmallLine } from "./small-language.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(10, 400))

describe("PERM-9 the small language", () => {
  test.each([
    "ls",
    "ls -la src | head -20",
    "cat 'a b' \"c d\" e\\ f",
    "grep -n 'a$b`c' f; wc -l < f",
    'grep "x\\|y\\.ts$" f',
    "git diff HEAD~1..HEAD^ -- src",
    "ls > /dev/null 2>&1 && pwd || true",
    "find . -name '*.ts' \\( -size +1k \\)",
    "cat src/*.ts docs/?.md",
    "[ -f a ] && cat a",
    "ls \\\n  src",
    "ls\npwd\n",
    "git commit -m 'two\nlines'",
  ])("%s is in it", (line) => expect(readSmallLine(line).state).toBe("read"))

  test.each([
    ["a=(1 $(./evil.sh))x; ls", "parentheses"],
    ["a=(1 `./evil.sh`)x; ls", "parentheses"],
    ["ls $HOME", "with $"],
    ['ls "$HOME"', "with $"],
    ["ls $(pwd)", "with $"],
    ['ls "`pwd`"', "backquotes"],
    ["(ls)", "parentheses"],
    ["f() { ls; }", "parentheses"],
    ["ls {a,b}", "braces"],
    ["ls &", "with &"],
    ["ls & pwd", "with &"],
    ["ls |& cat", "with &"],
    ["ls &> f", "with &"],
    ["cat <<E\nx\nE", "<< or <("],
    ["cat <<< x", "<< or <("],
    ["diff <(ls) a", "parentheses"],
    ["ls ~/x", "~ for a directory"],
    ["ls a:~/x", "~ for a directory"],
    ["X=~/x ls", "~ for a directory"],
    ["ls [ab]", "square brackets"],
    ["ls # a", "comments"],
    ["! ls", "with !"],
    ["for f in a; do ls; done", 'with "for"'],
    ["time ls", 'with "time"'],
    ["ls 'a", "not closed"],
    ["ls 12> f", "unusual redirections"],
    ["ls >&2x", "with &"],
    ["ls >| f", "an open end"],
    ["ls <> f", "unusual redirections"],
    ["ls ;; pwd", "an open end"],
    ["ls &&", "an open end"],
    ["ls | ", "an open end"],
    ["", "an open end"],
    ["*", "an open end"],
    ["ls a\\\nb", "an open end"],
    ["ls \u0007", "an open end"],
    ["ls é", "an open end"],
  ])("%s is not: %s", (line, why) => {
    const read = readSmallLine(line)
    expect(read.state === "outside" && read.why).toContain(why)
  })

  const word = fc.constantFrom(
    ...'a b.c - -x --y=z \'q r\' "s t" "u\\\\v" "w\\"x" "y$" a\\ b \\; HEAD~1 x^ = == %d @{ ~ $x ` * a*b ? [a] { } {a,b} # ! 1 2 2> > >> < << & | \' " \\ \n \t é'.split(
      " ",
    ),
  )
  const line = fc.array(fc.tuple(word, fc.constantFrom("", " ", " ; ", " && ", " | ")), { maxLength: 6 })

  /** Compares the arguments that a shell passes to a program, for lines of one command without redirections. */
  test.each(["bash", "sh"])("is read as %s reads it", (shell) => {
    const directory = scratchDirectory()
    const show = join(directory, "show")
    writeFileSync(show, '#!/bin/sh\nfor a in "$@"; do printf "%s\\0" "$a"; done\n', { mode: 0o755 })
    fc.assert(
      fc.property(line, (parts) => {
        const text = `./show ${parts.flat().join("")}`
        const read = readSmallLine(text)
        if (read.state === "outside") return
        const [{ commands }] = read.pipelines as [(typeof read.pipelines)[number]]
        const isSingle = read.pipelines.length === 1 && commands.length === 1 && commands[0]!.redirections.length === 0
        const words = commands[0]!.words.slice(1)
        if (!isSingle || words.some(({ pattern }) => pattern)) return
        const { stdout, stderr } = spawnSync(shell, ["-c", text], { cwd: directory, encoding: "utf8" })
        expect(stderr).toBe("")
        expect(stdout.split("\0").slice(0, -1), JSON.stringify(text)).toEqual(words.map((given) => given.text))
      }),
      { numRuns: RUNS },
    )
  })

  test("a file pattern finds what the shell finds, or is not known", () => {
    const directory = scratchDirectory()
    mkdirSync(join(directory, "sub"))
    for (const name of ["a.ts", "b.ts", ".hidden.ts", "sub/c.ts", "sub/a b", "x[1]"])
      writeFileSync(join(directory, name), "")
    for (const text of ["*.ts", "./*", "sub/*", "*/c.ts", ".h*", "a?ts", "no*match", "x\\[*", "*/*"]) {
      const read = readSmallLine(`printf '%s\\0' ${text}`)
      if (read.state === "outside") throw new Error(text)
      const pattern = read.pipelines[0]!.commands[0]!.words[2]!
      const { stdout } = spawnSync("bash", ["-c", `printf '%s\\0' ${text}`], {
        cwd: directory,
        encoding: "utf8",
        env: { LC_ALL: "C", PATH: process.env.PATH },
      })
      const { names } = expandPattern(pattern, { directory, disk: new Disk() })
      const there = stdout.split("\0").slice(0, -1)
      expect(
        names?.filter((name) => there.includes(name)),
        text,
      ).toEqual(there)
    }
  })
})

describe("PERM-9 without a sandbox", () => {
  const place = () => {
    const directory = scratchDirectory()
    for (const name of ["a", "b", "-o"]) writeFileSync(join(directory, name), "x\n")
    return { directory, env: { HOME: join(directory, "..", "home"), PATH: "/usr/bin:/bin" } }
  }
  const isUnasked = (line: string) => commandFacts(line, place()).isReadOnly

  /** Lines that once ran unapproved and caused harm. */
  test.each([
    "a=(1 $(./evil.sh))x; ls",
    "a=(1 $(./evil.sh)) ls",
    "find . -type f -exec uniq {} +",
    "find . -type f -exec xxd {} +",
    "find . -type f -exec uniq {} \\;",
    "ls | xargs uniq",
    "ls | xargs xxd",
    "uniq *",
    "uniq ?",
    "xxd a b",
    "sort *",
    "true || cd sub && cat ../outside",
    "cd sub < missing; cat ../outside",
    "false && cd sub; cat ../outside",
    "CDPATH=/ cd etc && cat passwd",
  ])("%s is asked about", (line) => expect(isUnasked(line)).toBe(false))

  test("one file may be read by a program that writes its second", () => {
    expect(isUnasked("uniq a")).toBe(true)
    expect(isUnasked("xxd a | head -3")).toBe(false) // its option syntax differs, so it needs a sandbox
    expect(isUnasked("cat a*")).toBe(true)
  })
})
