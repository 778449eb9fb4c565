import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { isWhole } from "../../../test/size.ts"
import type { ToolUse } from "../../messages/blocks.ts"
import { type AssistantMessage, contentOf, type Message, type UserMessage } from "../../messages/messages.ts"
import { project } from "../projection.ts"
import { artifacts, fileFate } from "./artifacts.ts"

const artifactsOf = ({ messages }: { messages: readonly Message[] }) => project(artifacts, messages)
const fileIn = (builder: { messages: readonly Message[] }, path: string) => artifactsOf(builder).files.get(path)
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

describe("L4-29 the artifacts view: files", () => {
  test("read, created, changed and deleted, with the newest entry about it", () => {
    const builder = conversation()
      .call("Read", { file_path: "/a" })
      .result("text")
      .call("Read", { file_path: "/a" })
      .result("text")
      .call("Edit", { file_path: "/a" })
      .result("ok")
      .call("Write", { file_path: "/new", content: "n" })
      .result("File created successfully")
      .call("Bash", { command: "rm /a" })
      .result("")
    const uuidOf = (at: number) => builder.messages[at]!.uuid
    expect(Object.fromEntries(artifactsOf(builder).files)).toEqual({
      "/a": { reads: 2, changes: 1, created: false, deleted: true, last: uuidOf(9) },
      "/new": { reads: 0, changes: 0, created: true, deleted: false, hash: sha256("n"), last: uuidOf(7) },
    })
  })

  test("a failed call changes nothing", () => {
    const builder = conversation()
      .call("Read", { file_path: "/a" })
      .result("no such file", true)
      .call("Write", { file_path: "/b", content: "x" })
      .result("permission denied", true)
      .call("Bash", { command: "rm /c" })
      .result("rm: cannot remove", true)
    expect([...artifactsOf(builder).files]).toEqual([])
  })

  test("what was found on disk around a command counts, also where the command does not name it or failed", () => {
    const builder = conversation().call("Bash", { command: "npm run generate; rm /p/kept" }).result("Exit code 1", true)
    const [call, result] = builder.messages as [Message, UserMessage]
    const { id } = contentOf(call as AssistantMessage)[0] as ToolUse
    const files = [
      { path: "/p/api.ts", what: "created" as const },
      { path: "/p/kept", what: "changed" as const },
      { path: "/p/old.ts", what: "deleted" as const },
    ]
    const { files: found } = project(artifacts, [call, { ...result, filesChanged: [{ callId: id, files }] }])
    expect(Object.fromEntries([...found].map(([path, facts]) => [path, fileFate(facts)]))).toEqual({
      "/p/api.ts": "created",
      "/p/kept": "changed",
      "/p/old.ts": "deleted",
    })
  })

  test("a command that failed by its exit code changes nothing either", () => {
    const builder = conversation()
      .call("shell", { command: ["rm", "/c"] })
      .result("Exit code: 1\nrm: cannot remove")
    expect([...artifactsOf(builder).files]).toEqual([])
  })

  test("a call without a result has not happened yet", () => {
    expect([...artifactsOf(conversation().call("Write", { file_path: "/a", content: "x" })).files]).toEqual([])
  })

  test("the hash is of the content as last seen whole; a change in part makes it unknown", () => {
    const builder = conversation().call("Read", { file_path: "/a" }).result("one")
    expect(fileIn(builder, "/a")?.hash).toBe(sha256("one"))
    builder.call("Edit", { file_path: "/a" }).result("ok")
    expect(fileIn(builder, "/a")?.hash).toBeUndefined()
    builder.call("Write", { file_path: "/a", content: "two" }).result("ok")
    expect(fileIn(builder, "/a")?.hash).toBe(sha256("two"))
    builder.call("Read", { file_path: "/a", limit: 1 }).result("t")
    expect(fileIn(builder, "/a")?.hash).toBe(sha256("two"))
  })

  test("writing a file that is known changes it, writing one that is not creates it, again after a deletion", () => {
    const builder = conversation().call("Write", { file_path: "/a", content: "x" }).result("ok")
    expect(fileIn(builder, "/a")).toMatchObject({ created: true, changes: 0 })
    builder.call("Write", { file_path: "/a", content: "y" }).result("ok")
    expect(fileIn(builder, "/a")).toMatchObject({ created: true, changes: 1 })
    builder.call("Bash", { command: "git rm /a" }).result("rm 'a'")
    expect(fileIn(builder, "/a")).toMatchObject({ deleted: true })
    builder.call("Write", { file_path: "/a", content: "z" }).result("ok")
    expect(fileIn(builder, "/a")).toMatchObject({ deleted: false, created: true, changes: 1 })
  })

  test("a file that can be read exists, even if it was deleted before", () => {
    const builder = conversation()
      .call("Bash", { command: "rm /a" })
      .result("")
      .call("Bash", { command: "git checkout ." })
      .result("Updated 1 path")
      .call("Read", { file_path: "/a" })
      .result("back")
    expect(fileIn(builder, "/a")).toMatchObject({ deleted: false, reads: 1 })
  })

  test("a move deletes and creates", () => {
    const { files } = artifactsOf(conversation().call("Bash", { command: "mv /a /b" }).result(""))
    expect(files.get("/a")).toMatchObject({ deleted: true })
    expect(files.get("/b")).toMatchObject({ created: true, deleted: false })
  })

  test("one file has one name: relative paths, cd and the conversation's directory", () => {
    const session = {
      type: "strata",
      subtype: "session",
      uuid: "s",
      parentUuid: null,
      timestamp: "",
      model: "m",
      cwd: "/repo",
    }
    const { messages } = conversation()
      .call("Edit", { file_path: "/repo/src/a.ts" })
      .result("ok")
      .call("Bash", { command: "cd src && sed -i s/a/b/ a.ts" })
      .result("")
      .call("Bash", { command: "touch a.ts new.ts" }) // the shell is still in src
      .result("")
      .call("Bash", { command: "rm a.ts" })
      .result("Shell cwd was reset to /repo")
      .call("Bash", { command: "echo > b.ts" })
      .result("")
    for (const entries of [
      [session, ...messages],
      [...messages, session], // as imported
    ]) {
      const { files } = project(artifacts, entries as Message[])
      expect([...files].map(([path, facts]) => `${path} ${fileFate(facts)}`)).toEqual([
        "/repo/src/new.ts created",
        "/repo/src/a.ts deleted",
        "/repo/b.ts created",
      ])
      expect(files.get("/repo/src/a.ts")).toMatchObject({ changes: 2 })
    }
  })

  const inDirectory = (cwd: string) => ({
    ...{ type: "strata", subtype: "session", uuid: "s", parentUuid: null, timestamp: "", model: "m", cwd },
  })

  test.each([
    ["/repo", "/repo/session/a.ts"],
    ["D:\\repo", "D:\\repo\\session\\a.ts"],
  ])("L4-29 a directory that is entered twice is not added twice: %s", (cwd, path) => {
    const { messages } = conversation()
      .call("Bash", { command: "cd session && sed -i s/a/b/ a.ts" })
      .result("")
      .call("Bash", { command: "cd session && sed -i s/b/c/ a.ts" }) // every command starts in the conversation's directory
      .result("")
      .call("Bash", { command: "cd session/deep && rm x.ts" })
      .result("")
    for (const entries of [
      [inDirectory(cwd), ...messages],
      [...messages, inDirectory(cwd)],
    ]) {
      const { files } = project(artifacts, entries as Message[])
      expect([...files.keys()][0]).toBe(path)
      expect(files.get(path)).toMatchObject({ changes: 2 })
      expect([...files.keys()][1]).toBe(path.replace("a.ts", cwd === "/repo" ? "deep/x.ts" : "deep\\x.ts"))
    }
  })

  test("L4-29 a directory inside one of the same name is entered where its files are known", () => {
    const { messages } = conversation()
      .call("Read", { file_path: "/repo/lib/lib/a.py" })
      .result("x")
      .call("Bash", { command: "cd lib && ls" })
      .result("")
      .call("Bash", { command: "cd lib && sed -i s/a/b/ a.py" })
      .result("")
    const { files } = project(artifacts, [inDirectory("/repo"), ...messages] as Message[])
    expect([...files.keys()]).toEqual(["/repo/lib/lib/a.py"])
  })

  test.each([
    ["/usr/bin/bash: line 1: cd: website: No such file or directory\ndone"],
    ["(eval):cd:1: no such file or directory: website\ndone"],
  ])("L4-29 a cd that did not work is not followed: %s", (output) => {
    const { messages } = conversation()
      .call("Bash", { command: "cd website && rm a.js; sed -i s/a/b/ b.js" })
      .result(output)
    const { files } = project(artifacts, [inDirectory("/repo"), ...messages] as Message[])
    expect([...files.keys()]).toEqual(["/repo/b.js"])
  })

  test("L4-29 a path of Windows has one name, however its slashes and its drive are written", () => {
    const { messages } = conversation()
      .call("Read", { file_path: "d:/repo/src/a.ts" })
      .result("x")
      .call("Bash", { command: "cd D:/repo && sed -i s/a/b/ src/a.ts" })
      .result("")
      .call("Edit", { file_path: "D:\\repo\\src\\a.ts" })
      .result("ok")
    for (const entries of [messages, [inDirectory("D:\\repo"), ...messages], [...messages, inDirectory("d:\\repo")]]) {
      const { files } = project(artifacts, entries as Message[])
      expect([...files.keys()]).toEqual(["D:\\repo\\src\\a.ts"])
      expect(files.get("D:\\repo\\src\\a.ts")).toMatchObject({ reads: 1, changes: 2 })
    }
  })

  test("L4-29 without a directory, a relative path and the whole one that ends with it are one file", () => {
    const { files } = artifactsOf(
      conversation()
        .call("Bash", { command: "sed -i s/a/b/ src/a.ts" })
        .result("")
        .call("Read", { file_path: "/repo/src/a.ts" })
        .result("x")
        .call("Bash", { command: "sed -i s/a/b/ src/a.ts; touch README.md" })
        .result("")
        .call("Read", { file_path: "/repo/docs/README.md" })
        .result("x"),
    )
    expect([...files.keys()]).toEqual(["/repo/src/a.ts", "README.md", "/repo/docs/README.md"])
    expect(files.get("/repo/src/a.ts")).toMatchObject({ reads: 1, changes: 2 })
  })

  test("a file that only the shell touched is marked, until a tool shows it", () => {
    const builder = conversation().call("Bash", { command: "go build -o /bin/tool ." }).result("")
    expect(fileIn(builder, "/bin/tool")).toMatchObject({ created: true, onlyByShell: true })
    builder.call("Read", { file_path: "/bin/tool" }).result("x")
    expect(fileIn(builder, "/bin/tool")?.onlyByShell).toBeUndefined()
  })

  test("with a directory everything known in it is deleted", () => {
    const { files } = artifactsOf(
      conversation()
        .call("Edit", { file_path: "/p/a/b.ts" })
        .result("ok")
        .call("Bash", { command: "rm -rf /p/a" })
        .result(""),
    )
    expect(files.get("/p/a/b.ts")).toMatchObject({ deleted: true })
  })

  test("touching a known file changes nothing, and a move onto one changes it", () => {
    const builder = conversation().call("Read", { file_path: "/a" }).result("one")
    builder.call("Bash", { command: "touch /a" }).result("")
    expect(fileIn(builder, "/a")).toMatchObject({ changes: 0, created: false, hash: sha256("one") })
    builder.call("Bash", { command: "mv /b /a" }).result("")
    expect(fileIn(builder, "/a")).toMatchObject({ changes: 1, created: false })
  })

  test("what a sub-agent did in its own conversation is not in here", () => {
    const { messages } = conversation().call("Write", { file_path: "/a", content: "x" }).result("ok")
    const aside = messages.map((message) => ({ ...message, isSidechain: true }))
    expect([...project(artifacts, aside).files]).toEqual([])
  })
})

describe("L4-29 the artifacts view: commands", () => {
  const commandAfter = (result: string, isError = false, command = "npm run build") =>
    artifactsOf(conversation().call("Bash", { command }).result(result, isError)).commands.get(command)

  test.each<[string, boolean, { failed: boolean; exitCode: number | undefined }]>([
    ["fine", false, { failed: false, exitCode: undefined }],
    ["Exit code 1\nboom", true, { failed: true, exitCode: 1 }],
    ["Exit code: 2\nWall time: 1s", false, { failed: true, exitCode: 2 }],
    ["Exit code: 0\nfine", false, { failed: false, exitCode: 0 }],
    ["out\nProcess exited with code 137", false, { failed: true, exitCode: 137 }],
    ["out\nCommand exited with code 1", true, { failed: true, exitCode: 1 }],
    ['{"output":"x","metadata":{"exit_code":3}}', false, { failed: true, exitCode: 3 }],
    [`${"long ".repeat(2_000)}\nExit code: 4`, false, { failed: true, exitCode: 4 }],
    ["the text speaks of Exit code 9", false, { failed: false, exitCode: undefined }],
  ])("how it ended: %.40s", (output, isError, expected) => {
    expect(commandAfter(output, isError)).toMatchObject(expected)
  })

  test.each([
    ["npm test", true],
    ["pnpm run test -- --watch=false", true],
    ["npx vitest run a.test.ts", true],
    ["python -m pytest -q", true],
    ["cargo nextest run", true],
    ["go test ./...", true],
    ["make check", true],
    ["cd packages/core && CI=1 pnpm --filter core test:unit 2>&1 | tail -5", true],
    ["timeout 60 ./node_modules/.bin/vitest run", true],
    ["bash -lc 'uv run pytest -q'", true],
    ["make -C lib test", true],
    ["./gradlew :app:test", true],
    ["if ! (go test ./...); then exit 1; fi", true],
    ["npm run build", false],
    ["cat latest.txt", false],
    ['git commit -m "run vitest"', false],
    ['git commit -m "$(cat <<EOF\nmake check, then npm test\nEOF\n)"', false],
    ["echo npm test", false],
    ["cat vitest.config.ts jest.config.js", false],
    ["grep -rn 'go test' .github", false],
    ["npm install jest", false],
    ["rm -rf test", false],
  ])("%s is a test run: %s", (command, isTest) => {
    expect(commandAfter("ok", false, command)).toMatchObject({ isTest })
  })

  test.runIf(isWhole)("whether a command runs tests is found out within the time limit of a test, for any text", () => {
    const hostile = [
      `npm ${"-a ".repeat(10_000)}`,
      `npm ${"-a b ".repeat(8_000)}test`,
      `pnpm ${"run ".repeat(10_000)}`,
      `make ${"a=b ".repeat(10_000)}`,
      `gradle ${"a:".repeat(20_000)}test`,
      `${"npm ".repeat(10_000)}test`,
      `${"sudo ".repeat(10_000)}npm test`,
    ]
    for (const command of hostile) expect(commandAfter("ok", false, command)).toBeDefined()
  })

  test("each command is listed once, in the order of its last run", () => {
    const builder = conversation()
    for (const command of ["a", "b", "a"]) builder.call("Bash", { command }).result(command === "b" ? "x" : "y")
    expect([...artifactsOf(builder).commands.keys()]).toEqual(["b", "a"])
  })

  test("the oldest go beyond 500", () => {
    const builder = conversation()
    for (let number = 0; number <= 500; number++) builder.call("Bash", { command: `echo ${number}` }).result("")
    const commands = [...artifactsOf(builder).commands.keys()]
    expect(commands).toHaveLength(500)
    expect(commands[0]).toBe("echo 1")
  })

  test("other tools and calls without a command do not count", () => {
    const builder = conversation().call("Read", { command: "x" }).result("").call("Bash", {}).result("")
    expect([...artifactsOf(builder).commands]).toEqual([])
  })
})
