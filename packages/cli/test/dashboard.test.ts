/** `strata dashboard`: a process with pages of this project, and the user's actions on them. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { localUser, openConversation, openMemoryBank } from "@strata/core"
import { expect, test } from "vitest"
import { encodeInFlightLine } from "../../core/src/journal/file/small-files.ts"
import { isWhole } from "../../core/test/size.ts"
import { startDashboard } from "./dashboard-pages.ts"
import { strataHere } from "./strata-here.ts"
import { calls, type Workbench, workbench } from "./workbench.ts"

const LONG = { "log.txt": "port 8080 answers, port 9090 does not\n".repeat(700) }
const READS = [calls({ Bash: { command: "cat log.txt" } }), "I have read the log."]
const SUMMARY = `<summary>\n${"Ports 8080 and 9090 were looked at. ".repeat(60)}\n</summary>`
const env = { STRATA_NOTES: "0" }

const dashboard = (bench: Workbench) => startDashboard(bench, env)

test("BEY-10 the dashboard of a project: what was compacted can be planned, undone after a question, and the journal says so", async () => {
  await using bench = await workbench({ turns: [...READS, SUMMARY], files: LONG })
  await bench.here(["run", "Read the log.", "--mode", "bypass"], { env })
  await bench.here(["compact"], { env })
  const { page, post, end, printed } = await dashboard(bench)
  expect(printed).toContain("Nothing leaves the machine")
  const [, id] = /\/c\/([\w-]+)"/.exec(await page("/"))!
  const compactions = await page(`/c/${id}/compactions`)
  const [, undo] = /data-post="[^"]*(\/undo\?compaction=[\w-]+)"/.exec(compactions)!
  expect(compactions).toContain("the summary")
  expect(compactions).toContain("By hand: you asked for it.")
  expect(compactions).toMatch(/Written by the model.*It cost \$0\.\d+/)
  expect(compactions).toContain("<dt>used again</dt><dd>No answer followed.</dd>")
  expect(await post(`/c/${id}/plan-compaction`)).toContain("There is no answer to summarise yet")
  expect(await post(`/c/${id}${undo}&dry=1`)).toContain("would be undone")
  expect(await page(`/c/${id}/compactions`)).toContain("Compaction 1")
  expect(await post(`/c/${id}${undo}`)).toContain("was undone")
  expect(await page(`/c/${id}/compactions`)).toContain("Not compacted yet")
  expect(await post(`/c/${id}/plan-compaction`)).toMatch(/<dt>summarise<\/dt><dd>\d+ messages, about [\d,]+ tokens/)
  expect(await page(`/c/${id}/rows?from=0`)).toContain("asked for on the page")
  expect(await post(`/c/${id}${undo}`)).toMatch(/nothing|no compaction/i)
  expect(await page(`/c/${id}/agents`)).toContain("No sub-agents")
  expect(await post(`/c/${id}/agents/a1/stop`)).toContain("This agent does not exist")
  expect(await page(`/c/${id}/find?words=9090`)).toContain("found, best first")
  expect(await end()).toBe(0)
})

test("BEY-10 the dashboard begins with this project and lists the conversations of others, which it opens too", async () => {
  await using bench = await workbench({ turns: ["Here.", "There."] })
  const elsewhere = join(dirname(bench.project), "elsewhere")
  mkdirSync(elsewhere)
  await bench.here(["run", "Work here."], { env })
  await strataHere(["run", "Work there."], { env: { ...bench.env, ...env }, cwd: elsewhere })
  const { page, end } = await dashboard(bench)
  const start = await page("/")
  expect(start).toContain("Work here.")
  expect(start).not.toContain("Work there.")
  const all = await page("/conversations?q=work")
  expect(all).toContain("Work here.")
  const [, id] = /\/c\/([\w-]+)">Work there\./.exec(all)!
  expect(await page(`/c/${id}/rows?from=0`)).toContain("There.")
  expect(await page(`/c/${id}/agents`)).toContain("No sub-agents")
  await end()
})

test.runIf(isWhole)("BEY-10 memories: text, source, history with differences; forgetting and taking back", async () => {
  await using bench = await workbench({ turns: [] })
  const bank = await openMemoryBank({ cwd: bench.project, env: bench.env, owner: localUser })
  await bank.change({ by: "person", why: "Said so", puts: [{ name: "Ports", body: "The port is 8080." }] })
  const { page, post, end } = await dashboard(bench)
  const memories = await page("/memories")
  expect(memories).toContain("The port is 8080.")
  const [, forget] = /data-post="[^"]*(\/memories\/forget\?[^"]+)"/.exec(memories)!
  expect(await post(forget!)).toContain("is forgotten")
  expect(await page("/memories")).toContain("Nothing is remembered yet")
  expect(await page("/memories/changes/2")).toContain("-The port is 8080.")
  expect(await post("/memories/revert?change=2")).toContain("was reverted")
  expect((await bank.all()).map(({ name }) => name)).toEqual(["Ports"])
  expect((await bank.history()).at(-1)).toMatchObject({ by: "person", why: "Taken back on the page" })
  await end()
})

test.runIf(isWhole)(
  "BEY-10 background work: an agent and a request of other processes are shown, and the agent is stopped from the page",
  async () => {
    const begun = Promise.withResolvers<void>()
    await using bench = await workbench({
      turns: [
        calls({ Agent: { description: "Count the files", prompt: "[slow] Count.", run_in_background: true } }),
        "I wait.",
        "It was stopped.",
      ],
      cast: {
        slow: [
          () => {
            begun.resolve()
            return new Promise<string>(() => undefined) // runs until it is stopped
          },
        ],
      },
    })
    const { page, post, end } = await dashboard(bench)
    expect(await page("/")).toContain("Background work")
    expect(await page("/work")).toContain("There is no background work")
    const running = bench.here(["run", "Count in the background."], { env })
    await begun.promise
    const work = await page("/work")
    expect(work).toContain("Count the files")
    const [, stop] = /data-post="[^"]*(\/c\/[^"]+\/agents\/agent-1\/stop)"/.exec(work)!
    expect(await post(stop!)).toContain("It was asked to stop")
    await running
    expect(await page("/work")).toContain("There is no background work")
    const [, lead] = /\/c\/([\w-]+)\/agents/.exec(stop!)!
    expect(await page(`/c/${lead}/agents`)).toContain(`/c/${lead}~agent-1/messages`)
    expect(await page(`/c/${lead}~agent-1/messages`)).toContain("[slow] Count.")
    expect(await page(`/c/${lead}~agent-2/messages`)).toContain("This page does not exist")

    const chat = await openConversation({ model: "claude-opus-5-5", cwd: bench.project, env: bench.env })
    await chat.add("Look at the log.")
    const usage = { input_tokens: 10, output_tokens: 10 }
    const notes = { id: "r1", purpose: "notes", model: "claude-haiku", usage, at: "2026-11-17T12:00:00Z" } as const
    const main = { id: "r2", purpose: "main", model: "claude-opus-5-5", usage } as const
    writeFileSync(
      chat.location.replace(/jsonl$/, "in-flight"),
      [notes, main].map((sent) => encodeInFlightLine({ sent })).join(""),
    )
    const asked = await page("/work")
    expect(asked).toContain("writes the notes of the conversation")
    expect(asked).toContain("1 task running")
    expect(asked).toContain("type /tasks in that chat")
    await chat.close()
    expect(await page("/work")).toContain("There is no background work") // no process has the conversation open
    await end()
  },
)

test.runIf(isWhole)(
  "BEY-10 background work: the dream of another process is shown and ended from the page, and the memory stays",
  async () => {
    const begun = Promise.withResolvers<void>()
    const never = () => {
      begun.resolve()
      return new Promise<string>(() => undefined)
    }
    await using bench = await workbench({ turns: [never, never] })
    const bank = await openMemoryBank({ cwd: bench.project, env: bench.env, owner: localUser })
    const puts = ["8080", "9090"].map((port) => ({ name: `Port ${port}`, body: `The port is ${port}.` }))
    await bank.change({ by: "person", why: "Said so", puts })
    const { page, post, end } = await dashboard(bench)
    const dream = bench.strata(["dream"], { env })
    await begun.promise
    expect(await page("/work")).toContain("puts the memories of this project in order")
    expect(await post("/work/dream/stop")).toContain("asked to stop")
    expect((await dream.ended).code).toBe(1)
    expect(await page("/work")).toContain("There is no background work")
    expect(await post("/work/dream/stop")).toContain("No dream is running")
    expect(await bank.all()).toHaveLength(2)
    await end()
  },
)
