/** Lines that once caused harm, because a script was parsed as bash, or a program in an argument was only searched. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { judge, type PermissionPolicy } from "./permissions.ts"

interface Change extends Partial<PermissionPolicy> {
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly hasSandbox?: boolean
}

function judgeIn(project: string) {
  return (line: string, { shell, env, hasSandbox = false, ...change }: Change = {}) => {
    const home = join(project, "..", "home")
    const command = commandFacts(line, {
      directory: project,
      env: { HOME: home, SECRET: "x", ...env },
      shell,
      hasSandbox,
    })
    const question = { kind: "execute", summary: line, subject: line, command } as const
    const policy = {
      mode: "ask",
      allow: [],
      ask: [],
      deny: [],
      project,
      protectedDirectories: [],
      home,
      ...change,
    } as const
    return judge({ tool: "Bash", isReadOnly: false, question }, policy).verdict
  }
}

function project() {
  const directory = join(scratchDirectory(), "project")
  mkdirSync(join(directory, "src"), { recursive: true })
  for (const name of ["a", "f.json", ".env", "src/a.ts"]) writeFileSync(join(directory, name), "text\n")
  return judgeIn(directory)
}

const quoted = (script: string): string => `'${script.replaceAll("'", "'\\''")}'`

const OTHER_SHELLS: readonly (readonly [name: string, script: string])[] = [
  ["|| in a test of bash runs a file", "[[ a || ./evil.sh ]]"],
  ["; in a test of bash runs a program", "[[ a ; touch x ]]"],
  ["> in a test of bash empties a file", "[[ a > ~/.bashrc ]]"],
  ["&& in a test of bash runs a program", "[[ a < b && touch x ]]"],
  ["a quote with escapes ends earlier", "echo $'a\\'; touch x #'"],
  ["a quote with escapes in a name", "ls $'\\'; ./evil.sh #'"],
  ["arithmetic is a subshell", "(( 1 > x ))"],
  ["a number to compare is calculated", "[ 'a[$(touch x)]' -eq 0 ]"],
  ["a line that goes on in a comment", "ls # \\\ntouch x"],
  ["a for loop over PATH of zsh", "for path in .; do evil.sh; done"],
  ["a loop of zsh", "repeat 1 touch x"],
  ["a block of zsh", "{ ls; } always { touch x; }"],
  ["a qualifier of zsh", "echo *(e:'touch x':)"],
]

const WRAPPINGS: readonly ((script: string) => string)[] = [
  (script) => `sh -c ${quoted(script)}`,
  (script) => `env sh -c ${quoted(script)}`,
  (script) => `timeout 5 sh -c ${quoted(script)}`,
  (script) => `echo a | xargs sh -c ${quoted(script)}`,
  (script) => `find . -maxdepth 0 -exec sh -c ${quoted(script)} \\;`,
  (script) => `sh -c ${quoted(`sh -c ${quoted(script)}`)}`,
  (script) => `bash -c ${quoted(`dash -c ${quoted(script)}`)}`,
  (script) => `sh -ec ${quoted(script)}`,
  (script) => `/bin/sh -c ${quoted(script)}`,
  (script) => `zsh -c ${quoted(script)}`,
  (script) => `busybox sh -c ${quoted(script)}`,
  (script) => `eval ${quoted(`sh -c ${quoted(script)}`)}`,
  (script) => `echo "$(ksh -c ${quoted(script)})"`,
  (script) => `watch ${quoted(script)}`,
  (script) => `bash --posix -c ${quoted(script)}`,
  (script) => `sh << 'END'\n${script}\nEND`,
]

describe("PERM-4 another shell than bash", () => {
  test.each(OTHER_SHELLS)("%s: %s", (_, script) => {
    const verdict = project()
    const lines = WRAPPINGS.map((wrap) => wrap(script))
    expect(lines.filter((line) => verdict(line) === "allow")).toEqual([])
    expect(lines.filter((line) => verdict(line, { mode: "plan" }) !== "deny")).toEqual([])
    const deny = ["Bash(touch:*)", "Bash(./evil.sh)"]
    expect(lines.filter((line) => verdict(line, { deny, mode: "bypass" }) === "allow")).toEqual([])
  })

  test.each(OTHER_SHELLS)("as the shell of the tool, %s: %s", (_, script) => {
    const verdict = project()
    for (const shell of ["/bin/sh", "/usr/bin/dash", "zsh", "/opt/own-shell"])
      expect(verdict(script, { shell }), shell).not.toBe("allow")
    expect(verdict(script, { env: { POSIXLY_CORRECT: "1" } })).not.toBe("allow")
  })

  test("options that change how bash reads a script, or that show values", () => {
    const verdict = project()
    const lines = [
      "bash -O globstar -c 'cat **'",
      "bash -O dotglob -c 'cat *'",
      "bash -kc 'ls PATH=.'",
      "bash -xc 'test -n \"$SECRET\"'",
      "bash -o xtrace -c 'test -n \"$SECRET\"'",
      "bash +B -c 'ls {a,src}'",
      "bash -ac 'ls'",
      "sh -xc 'test -n \"$SECRET\"'",
      "sh - -c ls",
    ]
    expect(lines.filter((line) => verdict(line) === "allow")).toEqual([])
    const deny = ["Bash(rm:*)"]
    for (const line of ["bash -oc posix 'rm a'", "fish -c 'rm a'", "tcsh -c 'rm a'", "busybox sh -c 'rm a'"])
      expect(verdict(line, { deny, mode: "bypass" }), line).not.toBe("allow")
  })

  test("programs that run a script in the login shell, or write while they do", () => {
    const verdict = project()
    const lines = ["script -c ls", "su -c ls", "runuser -c ls", "flock a -c 'rm x'", "script -q -c 'ls' out"]
    expect(lines.filter((line) => verdict(line) === "allow")).toEqual([])
    expect(verdict("flock a -c 'rm x'", { mode: "bypass", deny: ["Bash(rm:*)"] })).toBe("deny")
  })

  test("daily scripts of another shell are not asked about where there is a sandbox", () => {
    const verdict = project()
    const scripts = [
      "ls src",
      "ls -la | grep a",
      "cat a 2>/dev/null | head -5",
      "cd src && ls",
      "test -d src && ls src || echo none",
      "sed -n '1,20p' a; echo done",
      "wc -l src/*.ts",
    ]
    const lines = scripts.flatMap((script) => [
      `sh -c ${quoted(script)}`,
      `timeout 5 dash -c ${quoted(script)}`,
      `bash -lc ${quoted(script)}`,
      `bash -euo pipefail -c ${quoted(script)}`,
    ])
    expect(lines.filter((line) => verdict(line, { hasSandbox: true }) !== "allow")).toEqual([])
    expect(lines.filter((line) => verdict(line) === "allow")).toEqual([])
    expect(scripts.filter((line) => verdict(line, { shell: "/bin/sh" }) !== "allow")).toEqual([])
    expect(verdict("bash -c '[[ -f a ]] && cat a'", { hasSandbox: true })).toBe("allow")
  })

  test("a rule that denies what a script certainly runs still denies it", () => {
    const verdict = project()
    expect(verdict("sh -c 'rm a'", { deny: ["Bash(rm:*)"], mode: "bypass" })).toBe("deny")
    expect(verdict("sh -c '[[ a ]] || rm a'", { deny: ["Bash(rm:*)"], mode: "bypass" })).toBe("deny")
  })
})

const PROGRAMS_IN_WORDS: readonly (readonly [name: string, line: string])[] = [
  ["a comment inside a name of jq", "jq -n '$#\nENV'"],
  ["a line break inside a name of jq", "jq -n '$\nENV'"],
  ["jq builds a string", "jq -n '\"\\(env)\"'"],
  ["jq builds a key", "jq -n '{(env): 1}'"],
  ["a definition that only a string of jq holds", "jq -n '\"def env:\", env'"],
  ["a slice of jq names it in its error", "jq '.[env:3]' f.json"],
  ["jq goes on after a comment with a backslash", "jq -n '# \\\nenv'"],
  ["mawk takes the slash after ++ for a regexp", `awk 'BEGIN{x++ /"/; system("touch x") #/"\n}'`],
  ["mawk takes the slash after length for a regexp", `awk 'BEGIN{print length /"/ > "x" #/"\n}'`],
  ["a slash in brackets ends the regexp of busybox", `awk '/[/"]/{print}#"]/{system("touch x")}'`],
  ["a bracket that closes at once does not", `gawk '/[^]/"]/{system("touch x")}#"/' a`],
  ["a line break after ? does not end a print", `awk 'BEGIN{print 1 ?\n2 : 3 > "x"}'`],
  ["a line break after a comma does not end a print", `awk '{print 1,\n2 > "x"}' a`],
  ["a quote in a regexp starts no string", `awk '/"/{system("touch x")}/"/' a`],
  ["a namespace of gawk", `gawk 'BEGIN{awk::system("touch x")}'`],
  ["a name of a function in a value", `gawk 'BEGIN{s="system"; @s("touch x")}'`],
  ["a delimiter in brackets of sed", "sed 's/[/]/p;s/w x/g/' a"],
  ["a line break inside a substitution of sed", "sed 's/a/b\nw x/' a"],
  ["a script that BSD sed takes for the value of -l", "sed -l 'w x' p a"],
  ["an option of perl", "perl -ne 'print' a"],
  ["a program of python", "python3 -c 'print(1)'"],
  ["a program of node", "node -p 1"],
  ["a program of ruby", "ruby -e 'puts 1'"],
]

describe("PERM-9 a program in a word is code", () => {
  test.each(PROGRAMS_IN_WORDS)("%s: %s", (_, line) => {
    const verdict = project()
    expect(verdict(line)).toBe("ask")
    expect(verdict(line, { mode: "plan" })).toBe("deny")
  })

  test("programs of awk, jq and sed run unasked in a sandbox only, and not past a rule about reading", () => {
    const verdict = project()
    const lines = [
      "awk '{print $1}' a",
      `awk 'BEGIN{while((getline l < ".env")>0) print l}'`,
      "jq -r '.a[]|select(.b==1)|{c:.d,e}' f.json",
      "sed 's/[^/]*$//' a",
      "sed -E 's|a+|b|g;/x/d' a",
    ]
    expect(lines.filter((line) => verdict(line) !== "ask")).toEqual([])
    expect(lines.filter((line) => verdict(line, { hasSandbox: true }) !== "allow")).toEqual([])
    const deny = ["Read(.env)"]
    expect(lines.filter((line) => verdict(line, { hasSandbox: true, deny }) === "allow")).toEqual([])
    expect(verdict("sed -n '1,20p;30p' a")).toBe("allow")
  })
})
