import { describe, expect, test } from "vitest"
import type { FileEffect } from "./file-effect.ts"
import { fileEffects } from "./file-effects.ts"
import type { FinishedCall } from "./open-work.ts"

const effectsOf = (tool: string, input: Record<string, unknown>, more: Partial<FinishedCall> = {}) =>
  fileEffects({ id: "t", tool, input, uuid: "u", failed: false, output: "", ...more })
const shell = (command: unknown) => effectsOf("Bash", { command })
const brief = (effects: readonly FileEffect[]) => effects.map(({ path, what }) => `${what} ${path}`)

describe("L4-29 what a tool call did to files", () => {
  test.each([
    ["Read", { file_path: "/a" }, "read /a"],
    ["read_file", { path: "/a" }, "read /a"],
    ["view", { path: "/a" }, "read /a"],
    ["Write", { file_path: "/a", content: "x" }, "written /a"],
    ["write_file", { path: "/a", content: "x" }, "written /a"],
    ["Edit", { file_path: "/a" }, "changed /a"],
    ["MultiEdit", { file_path: "/a" }, "changed /a"],
    ["edit", { filePath: "/a" }, "changed /a"],
    ["NotebookEdit", { notebook_path: "/a.ipynb" }, "changed /a.ipynb"],
    ["str_replace_based_edit_tool", { command: "view", path: "/a" }, "read /a"],
    ["str_replace_based_edit_tool", { command: "create", path: "/a", file_text: "x" }, "written /a"],
    ["str_replace_based_edit_tool", { command: "str_replace", path: "/a" }, "changed /a"],
    ["str_replace_editor", { command: "insert", path: "/a" }, "changed /a"],
  ])("%s %j: %s", (tool, input, effect) => {
    expect(brief(effectsOf(tool, input))).toEqual([effect])
  })

  test("a call that failed did nothing", () => {
    for (const tool of ["Read", "Write", "Edit", "Bash", "apply_patch"]) {
      const input = { file_path: "/a", command: "rm /a", input: "*** Delete File: /a" }
      expect(effectsOf(tool, input, { failed: true })).toEqual([])
    }
  })

  test("unknown tools and calls without a path do nothing", () => {
    expect(effectsOf("mcp__files__delete", { path: "/a" })).toEqual([])
    for (const input of [{}, { file_path: "" }, { file_path: 7 }]) expect(effectsOf("Read", input)).toEqual([])
  })

  test("the whole content is known where the call shows it", () => {
    expect(effectsOf("Read", { file_path: "/a" }, { output: "all" })).toEqual([
      { path: "/a", what: "read", content: "all" },
    ])
    expect(effectsOf("Read", { file_path: "/a", offset: 5 }, { output: "part" })).toEqual([
      { path: "/a", what: "read" },
    ])
    expect(effectsOf("Read", { file_path: "/a", limit: 5 }, { output: "part" })).toEqual([{ path: "/a", what: "read" }])
    expect(effectsOf("Write", { file_path: "/a", content: "new" })).toEqual([
      { path: "/a", what: "written", content: "new" },
    ])
  })

  test("a write that says the file is new created it", () => {
    const output = "File created successfully at: /a"
    expect(brief(effectsOf("Write", { file_path: "/a", content: "x" }, { output }))).toEqual(["created /a"])
  })

  test("patches add, update, delete and move", () => {
    const patch = [
      "*** Begin Patch",
      "*** Add File: new.ts",
      "+x",
      "*** Update File: old.ts",
      "@@",
      "*** Update File: here.ts",
      "*** Move to: there.ts",
      "*** Delete File: gone.ts",
      "*** End Patch",
    ].join("\n")
    const expected = ["created new.ts", "changed old.ts", "deleted here.ts", "created there.ts", "deleted gone.ts"]
    expect(brief(effectsOf("apply_patch", { input: patch }))).toEqual(expected)
    expect(brief(effectsOf("apply_patch", { text: patch }))).toEqual(expected) // as imported from Codex
    expect(brief(effectsOf("patch", { patch }))).toEqual(expected)
    expect(brief(shell(`apply_patch <<'EOF'\n${patch}\nEOF`))).toEqual(expected)
  })

  test.each<[string, string[]]>([
    ["rm a.txt", ["deleted a.txt"]],
    ["rm -f a.txt 'b c.txt' \"d e\"", ["deleted a.txt", "deleted b c.txt", "deleted d e"]],
    ["git rm --cached a.txt", ["deleted a.txt"]],
    ["mv a.txt b.txt", ["deleted a.txt", "created b.txt"]],
    ["git mv a.txt b.txt", ["deleted a.txt", "created b.txt"]],
    ["ls && rm a.txt; echo done || rm b.txt", ["deleted a.txt", "deleted b.txt"]],
    ["mv src/a.txt docs/", ["deleted src/a.txt", "created docs/a.txt"]],
    ["mv a b dir", ["deleted a", "created dir/a", "deleted b", "created dir/b"]],
    ["rm *.txt", []],
    ['rm "$FILE"', []],
    ["echo rm a.txt", []],
    ["cat rm", []],
    ["", []],
  ])("the command %s", (command, effects) => {
    expect(brief(shell(command))).toEqual(effects)
  })

  test.each<[string, string[]]>([
    ["echo x > a.txt", ["written a.txt"]],
    ["npm run build &> build.log; echo done >> log.txt", ["written build.log", "changed log.txt"]],
    ["ls > /dev/null 2>&1; ls 2>/dev/null", []],
    ["sort < in.txt", []],
    ["sed -i 's/a/b/' a.ts b.ts", ["changed a.ts", "changed b.ts"]],
    ["sed -i '' -e 's/a/b/' a.ts", ["changed a.ts"]],
    ["sed -n '1,9p' a.ts", []],
    ["perl -pi -e 's/a/b/' a.ts", ["changed a.ts"]],
    ["cp a.ts b.ts", ["written b.ts"]],
    ["cp -r a.ts lib/", ["written lib/a.ts"]],
    ["cp -t lib a.ts b.ts", ["written lib/a.ts", "written lib/b.ts"]],
    ["npm test | tee out.log", ["written out.log"]],
    ["npm test 2>&1 | tee -a out.log", ["changed out.log"]],
    ["touch a.ts", ["touched a.ts"]],
    ["git checkout -- a.ts", ["changed a.ts"]],
    ["git checkout main", []],
    ["git restore a.ts", ["changed a.ts"]],
    ["git commit -m 'rm a.txt > b'", []],
    ["curl -sL https://example.com/x -o x.zip", ["written x.zip"]],
    ["gofmt -w a.go && gofmt -l .", ["changed a.go"]],
    ["npx prettier --write src/a.ts 'src/**/*.ts'", ["changed src/a.ts"]],
    ["ruff check a.py; ruff format a.py", ["changed a.py"]],
    ["go build -o bin/tool ./...", ["written bin/tool"]],
    ["cd src && rm a.ts && cd .. && rm b.ts", ["deleted src/a.ts", "deleted b.ts"]],
    ["(cd src; rm a.ts); rm b.ts", ["deleted src/a.ts", "deleted b.ts"]],
    ["cd $(mktemp -d) && touch a && touch /tmp/b", ["touched /tmp/b"]],
    ['OUT=dist/x; echo 1 > "$OUT/a.txt"; rm $OUT/b', ["written dist/x/a.txt", "deleted dist/x/b"]],
    ["rm a.{js,ts}", ["deleted a.js", "deleted a.ts"]],
    ["for f in a b; do echo > $f.txt; done", ["written a.txt", "written b.txt"]],
    ["if true; then rm a; else rm b; fi", ["deleted a", "deleted b"]],
    ["sudo rm /etc/x; timeout 5 tee log", ["deleted /etc/x", "written log"]],
    ["bash -lc 'cd lib && rm a'", ["deleted lib/a"]],
    ["python3 -c \"open('a.json', 'w').write('{}')\"", ["written a.json"]],
    ["python3 - <<'PY'\np = 'a.py'\ns = open(p).read()\nopen(p, 'w').write(s)\nPY", ["written a.py"]],
    ["node -e 'fs.writeFileSync(\"a.json\", x)'", ["written a.json"]],
    ["cat <<'EOF' > a.sh\nrm b.txt\nEOF", ["written a.sh"]],
  ])("files that a shell writes: %s", (command, effects) => {
    expect(brief(shell(command))).toEqual(effects)
  })

  test("the content of a plain here-document is known", () => {
    expect(shell("cat > a.txt <<'EOF'\none $two\nEOF")).toEqual([
      { path: "a.txt", what: "written", content: "one $two\n" },
    ])
    expect(shell("cat > a.txt <<EOF\none $two\nEOF")).toEqual([{ path: "a.txt", what: "written" }])
  })

  test("of a command that failed its last step is not counted", () => {
    const after = (command: string, ran: boolean) =>
      brief(
        fileEffects(
          { id: "t", tool: "Bash", input: { command }, uuid: "u", failed: true, output: "Exit code 1" },
          { ran },
        ),
      )
    expect(after("echo x > a.ts && npm test", true)).toEqual(["written a.ts"])
    expect(after("echo x > a.ts\nnpm test", true)).toEqual(["written a.ts"])
    expect(after("rm a.ts", true)).toEqual([])
    expect(after("rm a.ts || rm b.ts", true)).toEqual([])
    expect(after("echo x > a.ts && npm test", false)).toEqual([]) // it was refused
  })

  test("paths are resolved where the directory is known", () => {
    const at = (tool: string, input: Record<string, unknown>, place: object) =>
      brief(fileEffects({ id: "t", tool, input, uuid: "u", failed: false, output: "" }, place))
    const cwd = "/repo"
    expect(at("Edit", { file_path: "src/a.ts" }, { cwd })).toEqual(["changed /repo/src/a.ts"])
    expect(at("Bash", { command: "rm a.ts ../b.ts ~/c" }, { cwd, directory: "/repo/src" })).toEqual([
      "deleted /repo/src/a.ts",
      "deleted /repo/b.ts",
      "deleted ~/c",
    ])
    expect(at("exec_command", { cmd: "rm a.ts", workdir: "lib" }, { cwd })).toEqual(["deleted /repo/lib/a.ts"])
    expect(at("Bash", { command: "rm /d/repo/a.ts b.ts" }, { cwd: "D:\\repo" })).toEqual([
      "deleted D:\\repo\\a.ts",
      "deleted D:\\repo\\b.ts",
    ])
  })

  test("a command given as a list of words", () => {
    expect(brief(effectsOf("shell", { command: ["bash", "-lc", "echo 'a b' > c.txt"] }))).toEqual(["written c.txt"])
    expect(brief(effectsOf("shell", { command: ["rm", "a b; rm c"] }))).toEqual(["deleted a b; rm c"])
    expect(brief(effectsOf("shell", { command: ["rm", "a.txt"] }))).toEqual(["deleted a.txt"])
    expect(brief(effectsOf("exec_command", { cmd: "rm a.txt" }))).toEqual(["deleted a.txt"])
    expect(shell(7)).toEqual([])
  })
})
