import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isReadOnlyCommand, pathsNamedBy } from "./read-only-commands.ts"

describe("read-only commands (PERM-1: what plan mode lets through)", () => {
  it.each([
    "ls",
    "ls -la src",
    "cat 'a file' \"b file\"",
    "git status",
    "git log --oneline -5",
    "git diff HEAD~1 -- src/index.ts",
    "git branch --show-current",
    "git stash list",
    "rg -n 'foo|bar' src | head -20",
    "find . -name '*.ts' -type f | sort | uniq -c",
    "cat src/*.ts | wc -l",
    "sed -n 10,20p file.ts",
    "sed -n '5,$p' file.ts",
    "pwd && ls; echo done || true",
    "date +%F",
    "command -v node",
    "node --version",
  ])("%s", (line) => expect(isReadOnlyCommand(line)).toBe(true))

  it.each([
    ["", "nothing"],
    ["rm file", "a command that is not in the table"],
    ["ls > file", "redirection"],
    ["cat < file", "redirection"],
    ["ls 2>&1", "redirection"],
    ["ls; rm file", "one of several"],
    ["ls && rm file", "one of several"],
    ["ls | xargs rm", "a pipe into another"],
    ["ls | tee file", "a pipe into another"],
    ["ls & rm file", "background"],
    ["ls &", "background"],
    ["ls\nrm file", "a second line"],
    ["ls $(rm file)", "substitution"],
    ["ls `rm file`", "substitution"],
    ['ls "$(rm file)"', "substitution in quotes"],
    ["cat $FILE", "a variable could be anything"],
    ["cat <(rm file)", "process substitution"],
    ["(rm file)", "grouping"],
    ["{ rm,file; }", "grouping"],
    ["l\\s file", "an escape"],
    ["X=1 ls", "an assignment could be LD_PRELOAD"],
    ["ls |", "unfinished"],
    ["ls 'open", "unfinished"],
    ["cat *", "a file may be called like an option"],
    ["sort -*", "a file may be called like an option"],
    ["find . -delete", "deletes"],
    ["find . -name x -exec rm {} +", "executes"],
    ["find . -fprintf out x", "writes"],
    ["sort -o out in", "writes"],
    ["sort -ro out in", "writes, in a cluster"],
    ["sort --outp=out in", "writes, abbreviated"],
    ["uniq in out", "writes its second file"],
    ["uniq - out", "writes its second file"],
    ["uniq -- -in out", "writes its second file"],
    ["tree -o out", "writes"],
    ["sed -i s/a/b/ file", "writes"],
    ["sed -n '1w out' file", "writes"],
    ["sed -n 1p -i file", "writes"],
    ["rg --pre=./run x", "executes"],
    ["date 01010000", "sets the clock"],
    ["date -s now", "sets the clock"],
    ["git", "no subcommand"],
    ["git push", "changes"],
    ["git -c core.pager=rm log", "options before the subcommand"],
    ["git diff --output=out", "writes"],
    ["git branch new", "creates"],
    ["git branch -D old", "deletes"],
    ["git tag v1", "creates"],
    ["git stash", "changes"],
    ["git reflog expire --all", "changes"],
    ["git grep -O x", "starts a pager"],
    ["git constructor", "nothing that an object merely inherits"],
    ["toString", "nothing that an object merely inherits"],
    ["env rm file", "runs another"],
    ["printf -v 'a[$(rm file)]' x", "evaluates"],
    ["test -v 'a[$(rm file)]'", "evaluates"],
    ["node --eval 1", "runs"],
    ["cd src", "moves the working directory"],
  ])("not %s: %s", (line) => expect(isReadOnlyCommand(line)).toBe(false))

  it("with an operator that is not understood, nothing is read-only", () => {
    const operator = fc.constantFrom(">", ">>", "<", "&", "$(", "`", "\n", "(", "\\", "<<<", "2>", "&>", "$")
    fc.assert(
      fc.property(fc.string(), operator, fc.string(), (before, mark, after) => {
        expect(isReadOnlyCommand(`ls ${before.replace(/['"]/g, "")}${mark}x${after}`)).toBe(false)
      }),
    )
  })

  it("names the paths of a line, those in options too, and the place of a pattern", () => {
    expect(pathsNamedBy("cat a 'b c' --file=d -n | head src/*.ts")).toEqual(["a", "b c", "d", "src/"])
    expect(pathsNamedBy("cat $X")).toEqual([])
  })
})
