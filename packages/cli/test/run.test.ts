/** `strata run` as a real process, over HTTP against the simulator. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openConversation, projectIdentity } from "@strata/core/internal"
import type { ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { calls, HALTING, type Workbench, workbench } from "./workbench.ts"

/** Lines of standard output as JSON. */
const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string })

const journalOf = ({ home }: Workbench, id: string): readonly Record<string, unknown>[] => {
  const [project] = readdirSync(join(home, "projects"))
  return jsonLines(readFileSync(join(home, "projects", project!, `${id}.jsonl`), "utf8"))
}

test("the answer goes to standard output, tool calls to standard error", async () => {
  await using bench = await workbench({
    turns: [calls({ Read: { file_path: "notes.txt" } }, "Let me look."), "It says hello."],
    files: { "notes.txt": "hello\n" },
  })
  const { code, stdout, stderr } = await bench.strata(["run", "What do the notes say?"]).ended
  expect(stdout).toBe("Let me look.\nIt says hello.\n")
  expect(stderr).toMatch(/^- Read .*notes\.txt.*: ok, \d+ ms\n$/)
  expect(code).toBe(0)
})

test("the task is read from standard input", async () => {
  await using bench = await workbench({
    turns: [({ request }) => `You said: ${request.messages[0]!.content[0]!.text}`],
  })
  expect(await bench.strata(["run"], { stdin: "a piped task\n" }).ended).toMatchObject({
    code: 0,
    stdout: "You said: a piped task\n",
  })
})

test("--json gives one event per line, the conversation first, the end last", async () => {
  await using bench = await workbench({ turns: [calls({ Bash: { command: "ls" } }), "Done."] })
  const { code, stdout } = await bench.strata(["run", "--json", "List the files."]).ended
  const events = jsonLines(stdout)
  expect(events[0]).toMatchObject({ type: "conversation", resumed: false, cwd: bench.project })
  expect(events.at(-1)).toMatchObject({
    type: "end",
    reason: "answer",
    exitCode: 0,
    conversation: events[0]!.conversation,
    ledger: { requests: 2, dollars: bench.sim.stats().total.dollars, byPurpose: [{ purpose: "main", requests: 2 }] },
  })
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(["conversation", "user", "request", "response", "tool-start", "tool-result", "text", "done", "end"]),
  )
  expect(code).toBe(0)
})

test("PERM-1: without a person, ask means no, and it is said clearly", async () => {
  await using bench = await workbench({
    turns: [calls({ Write: { file_path: "new.txt", content: "x" } }), "I was not allowed to."],
  })
  const { code, stderr } = await bench.strata(["run", "Write a file."]).ended
  expect(stderr).toContain("denied, because Write needs permission, and there is no one to ask")
  expect(stderr).toContain("Allow such calls with --mode or --allow.")
  expect(stderr).toMatch(/These rules would allow them: --allow 'Write\(.*\)'\n/)
  expect(existsSync(join(bench.project, "new.txt"))).toBe(false)
  expect(code).toBe(0)
})

test("--allow and --mode allow what would be asked", async () => {
  await using bench = await workbench({
    turns: [calls({ Write: { file_path: "new.txt", content: "x" }, Bash: { command: "touch made.txt" } }), "Written."],
  })
  const args = ["run", "Write.", "--mode", "accept-edits", "--allow", "Bash(touch:*)"]
  expect(await bench.strata(args).ended).toMatchObject({ code: 0, stdout: "Written.\n" })
  expect(readdirSync(bench.project).sort()).toEqual(["made.txt", "new.txt"])
})

test("LOOP-6: max turns and the cost limit end it with a code of their own", async () => {
  const turns = Array.from({ length: 5 }, () => calls({ Bash: { command: "ls" } }))
  await using bench = await workbench({ turns })
  const stopped = await bench.strata(["run", "Go on for ever.", "--max-turns", "2"]).ended
  expect(stopped.code).toBe(4)
  expect(stopped.stderr).toContain("Stopped after 2 turns")
  const poor = await bench.strata(["run", "--continue", "Again.", "--cost-limit", "0.000001"]).ended
  expect(poor.code).toBe(5)
  expect(poor.stderr).toMatch(/the limit for this conversation is \$0\.00/)
})

test("errors, refusals and wrong command lines have codes of their own", async () => {
  await using bench = await workbench({
    turns: [{ content: [{ type: "text", text: "No." }], stopReason: "refusal" }],
    faults: [{ nth: 2, fault: { kind: "rate-limit", retryAfterSeconds: null } }],
  })
  expect((await bench.strata(["run", "Do harm."]).ended).code).toBe(7)
  const failed = await bench.strata(["run", "Hello."]).ended
  expect(failed.code).toBe(1)
  expect(failed.stderr).not.toContain("    at ") // no stack
  const misspelt = await bench.strata(["run", "--contine", "Hello."]).ended
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean --continue?") })
  const keyless = await bench.strata(["run", "Hello."], { env: { ANTHROPIC_BASE_URL: "" } }).ended
  expect(keyless).toMatchObject({ code: 3, stderr: expect.stringContaining("ANTHROPIC_API_KEY") })
  expect(keyless.stderr).toContain("strata demo")
})

test("--continue and --resume go on in a new process", async () => {
  const echo: Parameters<typeof workbench>[0]["turns"][number] = ({ request }) =>
    `I know ${request.messages.length} messages.`
  await using bench = await workbench({ turns: [echo, echo, echo] })
  const [begun] = jsonLines((await bench.strata(["run", "--json", "One."]).ended).stdout)
  const id = String(begun!.conversation)
  expect((await bench.strata(["run", "--continue", "Two."]).ended).stdout).toBe("I know 3 messages.\n")
  expect((await bench.strata(["run", "--resume", id.slice(0, 8), "Three."]).ended).stdout).toBe("I know 5 messages.\n")
  const unknown = await bench.strata(["run", "--resume", "nothing", "Four."]).ended
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no conversation nothing") })
})

test("JRN-7: --continue finds a conversation whose process died before its first request", async () => {
  await using bench = await workbench({
    turns: [({ request }) => `${request.model} knows ${request.messages.length} messages.`],
  })
  const chat = await openConversation({ model: "claude-sonnet-5-5", dir: bench.home, cwd: bench.project, env: {} })
  await chat.add({ role: "user", content: "One." })
  await chat.close()
  const { stdout } = await bench.strata(["run", "--continue", "--json", "Two."]).ended
  expect(jsonLines(stdout)[0]).toMatchObject({ type: "conversation", conversation: chat.id, resumed: true })
  expect(stdout).toContain("claude-sonnet-5-5 knows 1 messages.") // both are in one user message
})

test("JRN-7: a conversation goes on with the model that answered last", async () => {
  const model: ScriptedTurn = ({ request }) => `I am ${request.model}.`
  await using bench = await workbench({ turns: [model, model, model] })
  const said = async (...args: string[]) => (await bench.strata(["run", ...args]).ended).stdout
  expect(await said("One.")).toBe("I am claude-opus-5-5.\n")
  expect(await said("Two.", "--continue", "--model", "claude-sonnet-5-5")).toBe("I am claude-sonnet-5-5.\n")
  expect(await said("Three.", "--continue")).toBe("I am claude-sonnet-5-5.\n")
})

test("JRN-3: what a journal has lost is said when it is opened, and where it is kept", async () => {
  await using bench = await workbench({ turns: ["One.", "Two."] })
  const [begun] = jsonLines((await bench.strata(["run", "--json", "First."]).ended).stdout)
  const [project] = readdirSync(join(bench.home, "projects"))
  const journal = join(bench.home, "projects", project!, `${begun!.conversation}.jsonl`)
  writeFileSync(journal, `${readFileSync(journal, "utf8").replace("One.", "Won.")}{"never finis`)
  const { code, stderr } = await bench.strata(["run", "Second.", "--continue"]).ended
  expect(code).toBe(0)
  expect(stderr).toContain("The journal is damaged: 1 line does not match the checksum and will be skipped.")
  expect(stderr).toContain("The journal's last line is incomplete (13 bytes) and was left out.")
  expect(stderr).toContain(`${begun!.conversation}.damaged`)
})

test("a missing project, and a place that cannot be written, are reported as sentences", async () => {
  await using bench = await workbench({ turns: [], files: { "notes.txt": "hello" } })
  expect(await bench.strata(["run", "Hello.", "--cwd", "notes.txt"]).ended).toMatchObject({
    code: 2,
    stderr: "notes.txt is not a directory.\n",
  })
  const root = join(bench.project, "notes.txt", "below-a-file")
  const { code, stderr } = await bench.strata(["run", "Hello."], { env: { STRATA_HOME: root } }).ended
  expect(code).toBe(1)
  expect(stderr).toContain(`Strata keeps conversations in ${root}`)
  expect(stderr).toContain("Set STRATA_HOME to another directory.")
})

test("LOOP-4: an interrupt in the middle of a stream leaves a conversation that goes on", async () => {
  await using bench = await workbench({
    turns: ["One two three four five six seven eight nine ten eleven twelve thirteen fourteen.", "I am back."],
    faults: [{ nth: 1, fault: HALTING }],
    haltsAfter: 4, // after the first words
  })
  const slow = bench.strata(["run", "Count."])
  await slow.said("One")
  slow.signal("SIGINT")
  const { code, stderr } = await slow.ended
  expect(code).toBe(6)
  const id = /--resume (\S+)/.exec(stderr)![1]!
  expect(journalOf(bench, id).some((line) => line.type === "assistant")).toBe(true)
  expect(await bench.strata(["run", "--resume", id, "Are you there?"]).ended).toMatchObject({
    code: 0,
    stdout: "I am back.\n",
  })
})

test("LOOP-4: an interrupt in the middle of a command ends it, and every call is answered", async () => {
  await using bench = await workbench({ turns: [calls({ Bash: { command: "sleep 600" } }, "Waiting."), "Awake."] })
  const slow = bench.strata(["run", "Sleep.", "--json", "--mode", "bypass"])
  await slow.said('"tool-start"')
  slow.signal("SIGINT")
  const { code, stdout } = await slow.ended
  expect(code).toBe(6)
  expect(jsonLines(stdout).find(({ type }) => type === "tool-result")).toMatchObject({ result: { is_error: true } })
  expect((await bench.strata(["run", "--continue", "Wake up."]).ended).stdout).toBe("Awake.\n")
})

/** Enough for a summary to be worth it. */
const LONG = { "log.txt": "port 8080 answers, port 9090 does not\n".repeat(700) }
test("L5-1 what the task taught is in the memory when the program has ended", async () => {
  const turns: ScriptedTurn[] = ["Noted."]
  await using bench = await workbench({ turns })
  const { name } = await projectIdentity(bench.project)
  const file = join(bench.home, "projects", name, "memory", "package-manager.md")
  const content =
    "---\nname: Package manager\ndescription: Which one is used\ntype: feedback\n---\n\nAlways use pnpm.\n"
  turns.push(calls({ Write: { file_path: file, content } }), "Done.")
  const env = { ...NO_NOTES, STRATA_AUTO_MEMORY: "1" }
  const { code, stdout } = await bench.strata(["run", "Always use pnpm here, never npm."], { env }).ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Noted.\n" })
  expect(readFileSync(file, "utf8")).toContain("Always use pnpm.")
})

const READS: readonly ScriptedTurn[] = [calls({ Bash: { command: "cat log.txt" } }), "I have read it."]
const SUMMARY = `<summary>\n${"Ports 8080 and 9090 were looked at. ".repeat(60)}\n</summary>`
const NO_NOTES = { STRATA_NOTES: "0" } // their forks would take turns of the script

describe("/compact", () => {
  test("L4-24 compacts a conversation that is continued; --dry-run tells the plan and changes nothing", async () => {
    const asked: string[] = []
    const heard =
      (answer: string): ScriptedTurn =>
      ({ request }) => {
        asked.push(JSON.stringify(request))
        return answer
      }
    await using bench = await workbench({ turns: [...READS, heard(SUMMARY), heard("The ports.")], files: LONG })
    const run = (...args: readonly string[]) => bench.strata(["run", ...args], { env: NO_NOTES }).ended
    await run("Read the log.", "--allow", "Bash")
    const planned = await run("--continue", "/compact --dry-run keep the ports")
    expect(planned).toMatchObject({ code: 0, stderr: "" })
    expect(planned.stdout).toMatch(/^summarise +5 messages, about [\d,]+ tokens$/m)
    expect(planned.stdout).toMatch(/^keep as is +1 message, about [\d,]+ tokens$/m)
    expect(planned.stdout).toMatch(/^tokens +[\d,]+ now, about [\d,]+ afterwards$/m)
    expect(planned.stdout).toMatch(/^cost +about \$0\.\d+ for the summary$/m)
    expect(planned.stdout).toMatch(/^routes, in order +by the model, from its cache; by the model; without a model$/m)
    const compacted = await run("--continue", "/compact keep the ports")
    expect(compacted).toMatchObject({ code: 0, stdout: "" })
    expect(compacted.stderr).toMatch(
      /^- Compacted: [\d,]+ to [\d,]+ tokens, by the model, from its cache\. Checked: .+\n$/,
    )
    expect(await run("--continue", "Which ports?")).toMatchObject({ code: 0, stdout: "The ports.\n" })
    expect(asked).toEqual([
      expect.stringContaining("keep the ports"),
      expect.stringContaining("8080 and 9090 were looked"),
    ])
  })

  test("BEY-6 without a key it quotes the conversation, and says so; any other task still needs the key", async () => {
    await using bench = await workbench({ turns: READS, files: LONG })
    await bench.strata(["run", "Read the log. Never touch port 9090.", "--allow", "Bash"], { env: NO_NOTES }).ended
    const keyless = (...args: readonly string[]) =>
      bench.strata(["run", "--continue", ...args], { env: { ...NO_NOTES, ANTHROPIC_BASE_URL: "" } }).ended
    const planned = await keyless("/compact --dry-run")
    expect(planned).toMatchObject({ code: 0, stderr: "" })
    expect(planned.stdout).toMatch(/^cost +nothing: no model is asked$/m)
    expect(planned.stdout).toMatch(/^routes, in order +without a model$/m)
    const compacted = await keyless("/compact")
    expect(compacted).toMatchObject({ code: 0, stdout: "" })
    expect(compacted.stderr).toMatch(/^- No model could write the summary, so it is quoted from the conversation\./)
    expect(compacted.stderr).toMatch(/- Compacted: [\d,]+ to [\d,]+ tokens, without a model\. Checked: .+\n$/)
    expect(await keyless("Which ports?")).toMatchObject({ code: 3, stderr: expect.stringContaining("API key") })
  })

  test("L4-14 --json gives the events as they are, and not a line for every few characters", async () => {
    await using bench = await workbench({ turns: [...READS, SUMMARY], files: LONG })
    await bench.strata(["run", "Read the log.", "--mode", "bypass"], { env: NO_NOTES }).ended
    const { code, stdout } = await bench.strata(["run", "--continue", "--json", "/compact"], { env: NO_NOTES }).ended
    const events = jsonLines(stdout)
    const of = (type: string) => events.filter((event) => event.type === type)
    expect(code).toBe(0)
    expect(of("boundary")).toMatchObject([{ trigger: "manual" }])
    expect(of("compacted")).toMatchObject([{ route: "shared" }])
    expect(of("summary")).toMatchObject([{ text: expect.stringContaining("Ports 8080 and 9090") }])
    const written = of("compaction").flatMap(({ progress }) => (progress as { characters?: number }).characters ?? [])
    expect(written.length).toBeGreaterThan(1)
    for (const [i, characters] of written.entries())
      expect(characters - (written[i - 1] ?? -500)).toBeGreaterThanOrEqual(500)
    expect(events.at(-1)).toMatchObject({ type: "end", reason: "answer", exitCode: 0 })
  })

  test("where it cannot be done, that is a sentence: no conversation, nothing to tell, no summary", async () => {
    const nothing = { content: [{ type: "text" as const, text: "" }] }
    await using bench = await workbench({ turns: [...READS, ...Array<ScriptedTurn>(8).fill(nothing)], files: LONG })
    expect(await bench.strata(["run", "/compact"]).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no conversation to compact."),
    })
    await bench.strata(["run", "Read the log.", "--mode", "bypass"], { env: NO_NOTES }).ended
    const env = { ...NO_NOTES, STRATA_COMPACT_OFFLINE: "0" }
    const { code, stdout, stderr } = await bench.strata(["run", "--continue", "/compact"], { env }).ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr.match(/The conversation could not be compacted/g)).toHaveLength(1)
    expect(stderr).not.toContain("    at ")
    const off = await bench.strata(["run", "--continue", "/compact --dry-run"], { env: { DISABLE_COMPACT: "1" } }).ended
    expect(off).toMatchObject({ code: 1, stderr: expect.stringContaining("Compacting is switched off") })
  })
})

test("L4-19 an automatic compaction is one line, and the agent learns that no one is there", async () => {
  const read = calls({ Bash: { command: "cat log.txt" } })
  const turns: readonly ScriptedTurn[] = [
    read,
    read,
    SUMMARY,
    ({ request }) => (JSON.stringify(request).includes("not a first start") ? "I go on alone." : "Hello."),
  ]
  await using bench = await workbench({ turns, files: LONG })
  const env = { ...NO_NOTES, STRATA_AUTOCOMPACT_TOKENS: "20000" }
  const { code, stdout, stderr } = await bench.strata(["run", "Read it twice.", "--mode", "bypass"], { env }).ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: "I go on alone.\n" })
  expect(stderr.match(/^- Compacted: .*$/gm)).toHaveLength(1)
  expect(stderr).not.toContain("attached")
})
