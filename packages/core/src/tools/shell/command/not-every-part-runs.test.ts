import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { commandFacts } from "./command-facts.ts"

let project = ""

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "strata-parts-")))
  mkdirSync(join(project, "src", "lib"), { recursive: true })
  for (const file of ["a", "src/b"]) writeFileSync(join(project, file), "text\n")
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

const factsOf = (line: string, directory = project) => commandFacts(line, { directory, env: { PATH: "/usr/bin" } })
/** Everything is known, and all of it is below the project. */
const isKnown = (line: string, directory?: string): boolean => {
  const { isReadOnly, commands, redirections } = factsOf(line, directory)
  const reads = [...redirections.reads, ...commands.flatMap(({ uses }) => uses.reads)]
  return isReadOnly && reads.every(({ path }) => path?.startsWith(project))
}
const linesOf = (text: string): readonly string[] => text.trim().split("\n")

describe("PERM-4 a function counts where it is sure to be what runs", () => {
  test("not in another process, past a condition, or out of a subshell", () => {
    const lines = linesOf(`
(rm() { :; }); rm -f a
rm() { :; } | cat; rm -f a
rm() { :; } & rm -f a
false && rm() { :; }; rm -f a
true || rm() { :; } && rm -f a
if false; then rm() { :; }; fi; rm -f a
while false; do rm() { :; }; done; rm -f a
for x in; do rm() { :; }; done; rm -f a
case a in b) rm() { :; };; esac; rm -f a
f() { rm() { :; }; }; rm -f a
{ rm() { :; }; } < missing; rm -f a
echo $(rm() { :; }); rm -f a
bash -c 'rm() { :; }'; rm -f a
rm() { :; }; command rm -f a
rm() { :; }; env rm -f a
rm() { :; }; exec rm -f a
rm() { :; }; timeout 5 rm -f a
rm() { :; }; echo a | xargs rm -f
rm() { :; }; find a -exec rm {} +
rm() { :; }; bash -c 'rm -f a'
./x() { :; }; env ./x`)
    expect(lines.filter((line) => factsOf(line).isReadOnly)).toEqual([])
  })

  test("but where it is called by its name", () => {
    const lines = linesOf(`
f() { echo; }; f
f() { echo; }; f && f | cat
f() { echo; }; g() { f; }; g
f() { echo; }; (f); echo $(f)
f() { echo; }; if true; then f; fi
{ f() { echo; }; }; f`)
    expect(lines.filter((line) => !factsOf(line).isReadOnly)).toEqual([])
  })
})

describe("PERM-4 the directory is known where the shell is sure to have moved", () => {
  test("a part that is skipped, or a redirection that fails, moves nothing", () => {
    const lines = linesOf(`
true || cd src && cat ../b
true || cd src && ls *
true && true || cd src && cat ../b
cd src < missing; cat ../b
cd src 2>&9; cat ../b
cd src > missing/x; cat ../b
{ cd src; } < missing; cat ../b
command cd src < missing; cat ../b
cd -@ src; cat ../b
true || x=a && cat $x
x=a < missing; cat $x`)
    expect(lines.filter((line) => isKnown(line))).toEqual([])
    expect(isKnown("true && cd .. && false && cd src; cat ../b", join(project, "src"))).toBe(false)
  })

  test("but a plain one does", () => {
    const lines = linesOf(`
cd src && cat ../a
cd src; cat b
cd src || exit; cat b
cd src 2>/dev/null && cat b
cd src > /dev/null 2>&1; cat b
cd src && ls && cat b; cat ../a
cd src && ls || true; cat b
cd -P src; cat b
x=a; cat $x
cd src/lib; cat ../b`)
    expect(lines.filter((line) => !isKnown(line))).toEqual([])
  })
})
