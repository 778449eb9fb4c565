import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole, size } from "../../../../test/size.ts"
import { scratchDirectory } from "../../../../test/tool-context.ts"
import { isInPosixCore } from "./posix-core.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(8, 25))

const DOLLAR = "$"

const ALIKE = [
  "ls src",
  "ls -la | grep x",
  "cat a b 2>/dev/null",
  "cd src && ls",
  'for f in a b; do cat "$f"; done',
  "if [ -f x ]; then cat x; else echo no; fi",
  'grep -n "a\\.b" src/a.ts',
  'grep "x$" f',
  "find . -name '*.ts' -exec grep -l foo {} +",
  "find . -name '*.ts' -exec grep -l foo {} \\;",
  'cat "$1"',
  'echo "$(ls)"',
  "ls *.ts",
  "wc -l < file",
  "ls\npwd",
  "! ls",
  "(cd src; ls)",
  "{ ls; pwd; }",
  'while read -r line; do echo "$line"; done',
  "ls >&2",
  "ls 2>&1 | head",
  '[ "$#" -eq 0 ]',
  "command -v node",
  "cat ~/x",
  "printf '%s\\n' a",
  "set -e; ls",
]

/** Each with the shells that read it otherwise, or that run what is in it. */
const NOT_ALIKE: readonly (readonly [script: string, why: string])[] = [
  ["[[ a || ./run ]]", "a program in dash"],
  ["[[ a > f ]]", "dash writes"],
  ["echo $'a\\'; ./run #'", "dash ends the quote earlier"],
  ['echo $"a"', "a dollar sign in dash"],
  ["cat <(ls)", "a syntax error in dash"],
  ["a=(1 2)", "arrays"],
  ["function f { ls; }", "a program in dash"],
  ["f() { ls; }", "a name that means something else afterwards"],
  ["ls &> f", "dash runs it in the background and writes"],
  ["ls >& f", "dash does not write"],
  ["ls |& cat", "a background command in dash"],
  ["cat <<< x", "here-strings"],
  ["cat <<E\nx\nE", "here-documents"],
  ["echo {a,b}", "dash expands no braces"],
  ["echo {1..3}", "dash expands no braces"],
  ["echo !(x)", "patterns of bash and ksh"],
  [`echo ${DOLLAR}{x:1}`, "a bad substitution in dash"],
  [`echo ${DOLLAR}{x/a/b}`, "a bad substitution in dash"],
  [`echo ${DOLLAR}{!x}`, "a bad substitution in dash"],
  [`echo ${DOLLAR}{x^}`, "a bad substitution in dash"],
  [`echo "${DOLLAR}{x:-y}"`, "quotes in it are read in different ways"],
  ["coproc ls", "a program in dash"],
  ["select x in a; do ls; done", "a program in dash"],
  ["time ls", "a program in dash"],
  ["case a in a) ls;& esac", "falling through"],
  ["echo 'a\\nb'", "dash reads escapes"],
  ["ls \\\n src", "a line that goes on"],
  ["alias a=b", "aliases"],
  ["=ls", "the path of ls in zsh"],
  ["cat ~root/x", "named directories"],
  ["ls **/x", "all directories in zsh and ksh"],
  ["ls *(.)", "qualifiers in zsh"],
  ["echo $~x", "patterns in values in zsh"],
  ["x=1", "zsh ties names to what it obeys"],
  ["PATH=. ls", "an assignment"],
  ["echo `ls`", "quotes in it are read in different ways"],
  ["((1))", "a subshell in dash"],
  ["echo $((1+1))", "arithmetic"],
  ["echo $[1]", "text in dash"],
  ["ls & pwd", "background"],
  ["ls # x", "comments"],
  ["[ a -eq 'b[$(./run)]' ]", "mksh calculates, and runs it"],
  ["printf %d 'b[$(./run)]'", "ksh calculates"],
  ["exit 'a[$(./run)]'", "zsh calculates"],
  ["cd -1", "the stack of directories in zsh"],
  ["cd a b", "zsh and ksh replace a part"],
  ["for path in a; do ls; done", "PATH in zsh"],
  ["read path", "PATH in zsh"],
  ["repeat 2 ./run", "a loop in zsh"],
  ["{ ls } always { ./run }", "a block in zsh"],
  ["for x in a b; ./run", "a loop in zsh"],
  ["if (ls) ./run", "a branch in zsh"],
  ["ls 10> f", "10 is a word in dash"],
  ["cat <1-9>", "a pattern in zsh"],
  ["echo $x[1]", "a part of the value in zsh"],
  ["echo $x:h", "a part of the value in zsh"],
  ["echo $10", "the tenth argument in zsh"],
  ["echo $#x", "a length in zsh"],
  ["echo $@", "zsh does not split it"],
  ["exec -a x ls", "dash runs -a"],
  ["eval ls", "text that is read again"],
  ["trap ls EXIT", "text that is read later"],
  ["< file", "zsh prints the file"],
  ["{ 2>&1 fi; }", "a keyword after a redirection in some"],
  ["! ! ls", "a syntax error in dash"],
  ["ls > *", "bash matches the pattern"],
  ["[ a -a b ]", "more words than all read alike"],
  ["noglob ls", "a word of zsh's grammar"],
  ["ls\r", "a carriage return"],
  ['echo "é"', "bytes that dash uses itself"],
]

describe("PERM-4 a script for another shell than bash is read only as far as all shells agree", () => {
  test.each(ALIKE)("%s", (script) => expect(isInPosixCore(script)).toBe(true))
  test.each(NOT_ALIKE)("not %s: %s", (script) => expect(isInPosixCore(script)).toBe(false))

  test.runIf(isWhole)("PERM-4 shells that are here do the same with every script that passes", () => {
    const top = scratchDirectory()
    const shells = SHELLS.filter(([program]) => spawnSync(program!, ["-c", ":"]).status === 0)
    expect(shells.length).toBeGreaterThan(1)
    makePrograms(top)
    fc.assert(
      fc.property(script.filter(isInPosixCore), (text) => {
        const [first, ...others] = shells.flatMap((shell) => effectsOf(text, { shell, top }) ?? [])
        for (const other of others) expect(other, text).toEqual(first)
      }),
      { numRuns: RUNS, ...(process.env.FUZZ_SEED ? { seed: Number(process.env.FUZZ_SEED) } : {}) },
    )
  })
})

const SHELLS = [["bash"], ["dash"], ["busybox", "sh"], ["zsh", "-f"], ["ksh"], ["mksh"], ["yash"]]

const word = fc.constantFrom(
  `${DOLLAR}{f}`,
  `"${DOLLAR}{f}-x"`,
  ...'a|\'b c\'|"d $f"|*|?|~|~/x|{}|[|]|=|!=|!|\\;|\\a|"\\x"|"x$"|$f|$1|"$@"|$*|$#|$?|x.y|a=b|$(p x)|"$(q "y z")"|-n|--|+1|%1|a,b|a:b'.split(
    "|",
  ),
  ..."\"a!b\"|'!'|\"\\\\\"|'\\n'|a*|*.t|d/*|\\*|\"*\"|\\~|a\\ b|$f/x|$f.t|''|\"\"|'a''b'|a\"b\"c|in|do|done|fi|then|{|}|a{|~a|a#b|\\#x".split(
    "|",
  ),
  ..."^|=x|a==b|\"'\"|\\'|\\$f|'$f'|\"\\$f\"|'a\nb'|\"a\nb\"|a\\\nb|[a]|a[1]|$f[1]|$f:h|(a)|`p`|$'a'|<a|2>b|>&2|2>&1|>o|>>o|10>o|&>o|<<<x|\"$f[1]\"".split(
    "|",
  ),
)
const program = fc.constantFrom(
  "p",
  "p",
  "q",
  ":",
  "true",
  "false",
  "echo",
  "printf '%s'",
  "[ -f a",
  "test -n",
  "cd d;",
  "type",
)
const simple = fc.tuple(program, fc.array(word, { maxLength: 3 })).map(([name, words]) => [name, ...words].join(" "))
const joint = fc.constantFrom(" && ", " || ", "; ", "\n", "&&", " & ")
const pipe = fc.constantFrom(" | ", "|", " |& ")
const { script } = fc.letrec<{ script: string }>((tie) => ({
  script: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    simple,
    tie("script").map((inner) => `(${inner})`),
    tie("script").map((inner) => `{ ${inner}; }`),
    tie("script").map((inner) => `! ${inner}`),
    fc
      .tuple(fc.constantFrom("f", "path"), word, tie("script"))
      .map(([f, w, inner]) => `for ${f} in ${w} a; do ${inner}; done`),
    fc.tuple(tie("script"), tie("script")).map(([a, b]) => `if ${a}; then ${b}; fi`),
    fc.tuple(tie("script"), joint, tie("script")).map((parts) => parts.join("")),
    // ksh waits only for the last command of a pipe, and this one for those before it
    fc.tuple(tie("script"), pipe, word).map(([before, sign, last]) => `${before}${sign}p ${last}`),
  ),
}))

/** Programs that write down how they were called. */
function makePrograms(top: string): void {
  mkdirSync(join(top, "bin"))
  for (const name of ["p", "q"])
    writeFileSync(
      join(top, "bin", name),
      `#!/bin/sh\ncat > /dev/null\n{ printf %s ${name}; for x; do printf '<%s>' "$x"; done; echo; } >> '${top}/calls'\necho ${name}\n`,
      { mode: 0o755 },
    )
}

/** The calls of the programs and the files. A pipe may start them in any order. `undefined`: zsh gave up at a pattern without a match. */
function effectsOf(text: string, { shell, top }: { readonly shell: readonly string[]; readonly top: string }) {
  const [place, calls] = [join(top, "place"), join(top, "calls")]
  rmSync(place, { recursive: true, force: true })
  rmSync(calls, { force: true })
  mkdirSync(join(place, "d"), { recursive: true })
  for (const name of ["a", "b.t", "ab", "d/e", ".h", "{}"]) writeFileSync(join(place, name), "x\n")
  const { stderr } = spawnSync(shell[0]!, [...shell.slice(1), "-c", text, "sh", "one", "t wo"], {
    cwd: place,
    env: { PATH: `${top}/bin:/usr/bin:/bin`, HOME: top },
    input: "",
    encoding: "utf8",
  })
  if (stderr.includes("no matches found")) return undefined
  return {
    calls: existsSync(calls) ? readFileSync(calls, "utf8").split("\n").sort() : [],
    files: readdirSync(place, { recursive: true }).sort(),
  }
}
