import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { commandShape } from "./command-facts.ts"

const isReadOnlyCommand = (line: string): boolean => commandShape(line).isReadOnly

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
    "cat < file",
    "ls 2>&1",
    "l\\s file",
    "cd src && ls",
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
    ["cat src/*.ts", "a pattern is looked up on the disk, and there is none here"],
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
    ["cd $X", "moves the working directory to an unknown place"],
  ])("not %s: %s", (line) => expect(isReadOnlyCommand(line)).toBe(false))

  it("with something that writes or is not known, nothing is read-only", () => {
    const operator = fc.constantFrom(
      ">",
      ">>",
      "$(rm ",
      "`rm ",
      "; rm ",
      "\nrm ",
      "2>",
      "&>",
      ">|",
      "| tee ",
      "&& rm ",
      "$FILE",
    )
    fc.assert(
      fc.property(fc.string(), operator, fc.string(), (before, mark, after) => {
        expect(isReadOnlyCommand(`ls ${before.replace(/[^\w ]/g, "")} ${mark}x${after}`)).toBe(false)
      }),
    )
  })
})
