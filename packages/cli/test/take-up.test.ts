/** Sessions of other programs, continued with the real program: named by file, chosen from the list, stored by `strata import`. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { listConversations, localUser } from "@strata/core"
import type { ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { TAKES_KEYS } from "./chatting.ts"
import { strataHere } from "./strata-here.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { type Workbench, workbench } from "./workbench.ts"

sayMissingTerminals()

const line = (uuid: string, parent: string | null, text: string) => {
  const role = uuid.startsWith("a") ? "assistant" : "user"
  const about = {
    type: role,
    uuid,
    parentUuid: parent,
    timestamp: "2026-01-01T00:00:00.000Z",
    sessionId: "old-session",
  }
  return `${JSON.stringify({ ...about, cwd: "/work/app", message: { role, content: text } })}\n`
}
const FIRST = line("u1", null, "Which port \u001b[2J does it use?") + line("a1", "u1", "It uses 8080.")
const MORE = line("u2", "a1", "And the host?") + line("a2", "u2", "localhost.")

/** Writes the transcript where Claude Code would. */
function put({ env, project }: Workbench, text = FIRST): string {
  const file = join(env.HOME!, ".claude/projects", project.replace(/[^A-Za-z0-9]/g, "-"), "old-session.jsonl")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

function watched(): { readonly turn: ScriptedTurn; readonly sent: string[] } {
  const sent: string[] = []
  const turn: ScriptedTurn = ({ request }) => {
    sent.push(JSON.stringify(request.messages))
    return "Done."
  }
  return { turn, sent }
}

describe.concurrent("JRN-6 strata run --resume FILE", () => {
  test("continues the session, says what was imported, and leaves the file as it is", async () => {
    const { turn, sent } = watched()
    await using bench = await workbench({ turns: [turn, turn, turn] })
    const file = put(bench)
    const first = await bench.here(["run", "--resume", file, "Go on."])
    expect(first).toMatchObject({ code: 0, stdout: "Done.\n" })
    expect(first.stderr).toContain("Imported from Claude Code: 2 messages.")
    expect(first.stderr).toContain("It was in /work/app.")
    expect(sent[0]).toContain("It uses 8080.")
    const second = await bench.here(["run", "--resume", file, "Go on again."])
    expect(second.stderr).toContain("Imported from Claude Code before")
    expect(sent[1]).toContain("Go on.")
    expect(readFileSync(file, "utf8")).toBe(FIRST)
    appendFileSync(file, MORE)
    const third = await bench.here(["run", "--resume", file, "Go on a third time."])
    expect(third.stderr).toContain("both went on")
    expect(sent[2]).toContain("localhost.")
    expect(sent[2]).not.toContain("Go on again.")
  })

  test("what is learned belongs to the project that the session was about, and its memories are the ones attached", async () => {
    const { turn, sent } = watched()
    await using bench = await workbench({ turns: [turn, turn, turn] })
    const other = mkdtempSync(join(dirname(bench.project), "other-"))
    const memories = async (cwd: string) => (await strataHere(["memory", "list"], { cwd, env: bench.env })).stdout
    const env = { STRATA_AUTO_MEMORY: "1", STRATA_NOTES: "0" }
    const file = put(bench, FIRST.replaceAll("/work/app", other))
    const first = await bench.here(["run", "--resume", file, "Always use pnpm here, never npm."], { env })
    expect(first.stderr).toContain(
      `It was in ${other}. Strata works in this directory and keeps what it learns for that project.`,
    )
    expect(await memories(bench.project)).not.toContain("pnpm")
    expect(await memories(other)).toContain("pnpm")
    await bench.here(["run", "Always use yarn here, never npm."], { env })
    expect(await memories(bench.project)).toContain("yarn")
    expect(await memories(other)).not.toContain("yarn")
    const again = await bench.here(["run", "--resume", "old-session", "Which of npm, pnpm or yarn?"], { env })
    expect(again.stderr).toContain("for that project")
    expect(sent.at(-1)).not.toContain("yarn here")
  })

  test("a file that is not one of the person's own sessions goes on without memory, whatever project it names", async () => {
    const { turn } = watched()
    await using bench = await workbench({ turns: [turn] })
    const other = mkdtempSync(join(dirname(bench.project), "other-"))
    const file = join(bench.project, "given.jsonl")
    writeFileSync(file, FIRST.replaceAll("/work/app", other))
    const env = { STRATA_AUTO_MEMORY: "1", STRATA_NOTES: "0" }
    const first = await bench.here(["run", "--resume", file, "Always use pnpm here, never npm."], { env })
    expect(first.stderr).toContain("without memory: the file is not one of your own sessions.")
    for (const cwd of [bench.project, other])
      expect((await strataHere(["memory", "list"], { cwd, env: bench.env })).stdout).not.toContain("pnpm")
  })

  test("BEY-20 the price of the next message is stated where a large session is no longer cached", async () => {
    await using bench = await workbench({ turns: Array.from({ length: 3 }, () => watched().turn) })
    const text = Array.from({ length: 9_000 }, (_, at) => `Line ${at} of the log says that all is well.`).join(" ")
    const file = put(bench, line("u1", null, text) + line("a1", "u1", "I see."))
    const { stderr } = await bench.here(["run", "--resume", file, "Go on."])
    expect(stderr).toMatch(
      /The next message costs about \$\d\.\d\d, and later ones \$0\.\d\d: \d\d\dK tokens are not cached any more\. strata compact --conversation old-session first: about \$\d\.\d\d, then \$0\.\d\d for the next message\./,
    )
    const estimate = Number(/costs about \$(\d\.\d\d)/.exec(stderr)?.[1])
    expect(estimate / bench.sim.stats().total.dollars).toBeCloseTo(1, 0)
    // the conversation is cached now
    expect((await bench.here(["run", "--resume", "old-session", "Go on."])).stderr).not.toContain("not cached")
    // the suggested command applies to this conversation, even if another one is newer
    await bench.here(["run", "Something else."])
    const named = /strata (compact .*) first/.exec(stderr)![1]!.split(" ")
    const planned = await bench.here([...named, "--dry-run", "--json"])
    expect(JSON.parse(planned.stdout.split("\n")[0]!)).toMatchObject({ conversation: "old-session" })
  })

  test.runIf(isWhole)("BEY-20 what another program's requests counted is not the size of ours", async () => {
    await using bench = await workbench({ turns: [watched().turn] })
    const usage = { input_tokens: 10, cache_read_input_tokens: 190_000, output_tokens: 5 }
    const answer = JSON.parse(line("a1", "u1", "It uses 8080.")) as { message: object }
    const file = put(
      bench,
      `${line("u1", null, "Which port?")}${JSON.stringify({ ...answer, message: { ...answer.message, id: "msg_1", usage } })}\n`,
    )
    expect((await bench.here(["run", "--resume", file, "Go on."])).stderr).not.toContain("not cached")
  })

  test.runIf(isWhole)("keeps what the session began with as its name", async () => {
    await using bench = await workbench({ turns: [watched().turn] })
    const file = put(bench, FIRST.replace("\\u001b[2J ", ""))
    await bench.here(["run", "--resume", file, "Go on."])
    const [kept] = await listConversations({
      env: bench.env,
      cwd: bench.project,
      owner: localUser,
      alsoUnowned: true,
    })
    expect(kept?.title).toBe("Which port does it use?")
  })

  test.runIf(isWhole)(
    "a file that is missing or no transcript is a sentence, and a task that names a file is a task",
    async () => {
      const { turn, sent } = watched()
      await using bench = await workbench({ turns: [turn, turn], files: { "x.json": '{"a":1}' } })
      const missing = await bench.here(["run", "--resume", "nowhere.jsonl", "Go on."])
      expect(missing.code).not.toBe(0)
      expect(missing.stderr).toContain("nowhere.jsonl cannot be read (ENOENT)")
      const other = await bench.here(["run", "--resume", "x.json", "Go on."])
      expect(other.stderr).toContain("its format is not known")
      await bench.here(["run", "Begin."])
      await bench.here(["run", "--resume", "Fix the package.json"])
      expect(sent[1]).toContain("Fix the package.json")
    },
  )
})

describe.concurrent("JRN-6 strata import", () => {
  test("keeps files and directories without opening them, and says what was understood", async () => {
    await using bench = await workbench({ turns: [] })
    const file = put(bench)
    writeFileSync(join(dirname(file), "other.jsonl"), "nothing\n")
    const { code, stdout, stderr } = await bench.here(["import", dirname(file)])
    expect(code).toBe(0)
    expect(stdout).toContain("Imported from Claude Code: 2 messages.")
    expect(stdout).toContain("Understood: ")
    expect(stdout).toContain("To continue: strata chat --resume old-session")
    expect(stderr).toContain("other.jsonl was not imported")
    expect(stderr).toContain("1 file of 2 were not imported.")
    expect((await bench.here(["recall", "--search", "port"])).stdout).toContain("8080")
    appendFileSync(file, MORE)
    const again = await bench.here(["import", "--json", file])
    expect(JSON.parse(again.stdout).conversations).toMatchObject([{ state: "updated", added: 2, id: "old-session" }])
  })

  test.runIf(isWhole)("fails where nothing could be kept, and refuses a journal of Strata's own", async () => {
    await using bench = await workbench({ turns: ["Hello."] })
    await bench.here(["run", "Hi."])
    const { code, stderr } = await bench.here(["import", join(bench.home, "projects")])
    expect(code).toBe(1)
    expect(stderr).toContain("is a journal of Strata's own")
  })
})

describe.concurrent.each(TERMINALS)("JRN-6 strata chat --resume, in $name", ({ open }) => {
  test.runIf(isWhole)(
    "lists sessions of other programs with their titles, and continues the one that is chosen",
    async () => {
      const { turn, sent } = watched()
      await using bench = await workbench({ turns: ["First.", turn] })
      await bench.here(["run", "A conversation of our own."])
      put(bench, FIRST.replaceAll("2026-01-01", "2099-01-01")) // its last message is the newest
      await using chat = open({ command: [...bench.command, "chat", "--resume"], cwd: bench.project, env: bench.env })
      await chat.sees("Switch to which conversation?")
      await chat.sees(TAKES_KEYS)
      expect(chat.screen()).toContain("A conversation of our own.")
      expect(chat.screen()).toMatch(/Which port .*does it use\?.*Claude Code/)
      chat.press("enter")
      await chat.sees("Imported from Claude Code: 2 messages.")
      await chat.sees("It uses 8080.")
      chat.type("Go on.")
      chat.press("enter")
      await chat.sees("Done.")
      expect(sent[0]).toContain("It uses 8080.")
    },
  )
})
