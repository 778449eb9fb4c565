/** Sub-agents of `strata run`, as real processes over HTTP against the simulator. */
import type { ResponderTurn } from "@strata/sim"
import { expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { calls, type Workbench, workbench } from "./workbench.ts"

const agentCall = (prompt: string, more: object = {}) =>
  calls({ Agent: { description: "Count the files", prompt, ...more } })

test("L7-4: strata run waits for its background agents, and each uses the model it was given", async () => {
  const waits = Promise.withResolvers<void>()
  const models: string[] = []
  await using bench = await workbench({
    turns: [
      agentCall("[slow] Count.", { run_in_background: true, model: "haiku" }),
      () => {
        waits.resolve()
        return "I wait."
      },
      "It counted 3.",
      ({ request }: ResponderTurn) => `Tools: ${request.tools?.map(({ name }) => name).join(" ")}`,
    ],
    cast: {
      slow: [
        async ({ request }) => {
          models.push(request.model)
          await waits.promise
          return "There are 3."
        },
      ],
    },
  })
  const { code, stdout, stderr } = await bench.here(["run", "Count in the background."])
  expect(stdout).toBe("I wait.\nIt counted 3.\n")
  expect(stderr).toContain("- attached: report of the agent agent-1\n")
  expect(code).toBe(0)
  expect(models[0]).toMatch(/^claude-haiku/)
  const alone = await bench.here(["run", "--no-agents", "Work alone."])
  expect(alone.stdout).toMatch(/^Tools: /)
  expect(alone.stdout).not.toMatch(/Agent|SendMessage/)
})

/** Runs `strata agents` and expects it to succeed. */
async function agents(bench: Workbench, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await bench.here(["agents", ...args])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return stdout
}

test("L7-4, L7-5: strata agents lists, shows, follows, messages and stops the agents of a run in another process", async () => {
  const begun = Promise.withResolvers<void>()
  const sent = Promise.withResolvers<void>()
  const heard = Promise.withResolvers<string>()
  await using bench = await workbench({
    turns: [
      agentCall("[slow] Count\u001b]0;owned\u0007.", { run_in_background: true }),
      "I wait.",
      ({ request }: ResponderTurn) => (JSON.stringify(request.messages).includes("was stopped") ? "Stopped." : "What?"),
    ],
    cast: {
      slow: [
        async (turn) => {
          begun.resolve()
          await sent.promise
          return (calls({ Bash: { command: "ls" } }, "I look.") as (given: ResponderTurn) => string)(turn)
        },
        ({ request }) => {
          heard.resolve(JSON.stringify(request.messages.at(-1)))
          return new Promise<string>(() => undefined) // runs until it is stopped
        },
      ],
    },
  })
  const running = bench.strata(["run", "Count in the background."])
  await begun.promise
  expect(await agents(bench)).toMatch(/agent-1 +agent-1 +background +running/)
  const hinted = await agents(bench, "send", "agent-1", "Look", "in", "src")
  expect(hinted).toContain("Sent to agent-1.")
  const tail = bench.here(["agents", "tail", "agent-1"])
  sent.resolve()
  expect(await heard.promise).toMatch(/It is not from the user.*Look in src/)
  const stopped = await agents(bench, "stop", "agent-1")
  expect(stopped).toContain("agent-1 was asked to stop")
  expect(await tail).toMatchObject({
    ...{ code: 0, stdout: expect.stringContaining("● Bash ls") },
    stderr: expect.stringContaining("The user stopped it."),
  })
  expect(await running.ended).toMatchObject({ code: 0, stdout: "I wait.\nStopped.\n" })

  const page = await agents(bench, "show", "agent-1")
  expect(page).toMatch(/agent-1: agent-1, background, stopped\n/)
  expect(page).toContain("[slow] Count␛]0;owned␇.")
  expect(page).toMatch(/journal: .*subagents\/agent-1\.jsonl\n/)
  const listed = JSON.parse(await agents(bench, "list", "--json")) as { agents: readonly object[] }
  expect(listed.agents).toMatchObject([{ id: "agent-1", status: "killed", turns: 2 }])
  const late = await bench.here(["agents", "stop", "agent-1"])
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("is not running") })
  const unknown = await bench.here(["agents", "show", "agent-7"])
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no agent "agent-7"') })
})

test.runIf(isWhole)(
  "L7-5: two strata run on one directory work as a team: messages both ways, and both end",
  async () => {
    const ready = Promise.withResolvers<void>()
    const says = (to: string, message: string) => calls({ SendMessage: { to, message, summary: "a question" } })
    await using bench = await workbench({
      turns: [],
      cast: {
        asker: [
          async (turn) => {
            await ready.promise
            return (says("knower", "How many ports?") as (given: ResponderTurn) => string)(turn)
          },
          "I have asked.",
          ({ request }) => (JSON.stringify(request.messages.at(-1)).includes("It is 42.") ? "So it is 42." : "What?"),
        ],
        knower: [
          () => {
            ready.resolve()
            return "I am here."
          },
          says("asker", "It is 42."),
          "I have answered.",
        ],
      },
    })
    const member = (name: string) => ["run", "--team", "pair", "--as", name, `[${name}] Work together.`]
    const [asker, knower] = await Promise.all([bench.here(member("asker")), bench.strata(member("knower")).ended])
    expect(asker).toMatchObject({ code: 0, stdout: "I have asked.\nSo it is 42.\n" })
    expect(asker.stderr).toContain("- attached: message from knower\n")
    expect(knower).toMatchObject({ code: 0, stdout: "I am here.\nI have answered.\n" })
    const half = await bench.here(["run", "--team", "pair", "Go."])
    expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining("--as MEMBER") })
  },
)

const STORES = [
  ["files", {}],
  ["memory", { STRATA_STORE: "memory:" }],
] as const

test.runIf(isWhole).each(STORES)(
  "L7-5: a member whose team stays empty says that it waits, and then that it ends: %s",
  async (_, env) => {
    await using bench = await workbench({ turns: ["I am here.", "I am here."] })
    const member = (...args: readonly string[]) => ["run", "--team", "pair", "--as", "first", ...args, "Work together."]
    const alone = await bench.here(member("--team-wait", "1"), { env })
    expect(alone).toMatchObject({ code: 0, stdout: "I am here.\n" })
    expect(alone.stderr).toMatch(/Waiting up to 1 second .*\n.*No other process joined the team pair in 1 second, so/)
    const stopped = bench.strata(member("--team-wait", "86400"), { env })
    await stopped.complained("Ctrl-C ends the wait.")
    stopped.signal("SIGINT")
    const { code, stderr } = await stopped.ended
    expect(code).toBe(0)
    expect(stderr).not.toContain("so this one ends")
  },
)

test.runIf(isWhole)(
  "L7-4: an agent that was running when its program was killed is shown as stopped, with its journal",
  async () => {
    const begun = Promise.withResolvers<void>()
    await using bench = await workbench({
      turns: [agentCall("[slow] Count.", { run_in_background: true }), "I wait."],
      cast: {
        slow: [
          () => {
            begun.resolve()
            return new Promise<string>(() => undefined)
          },
        ],
      },
    })
    const running = bench.strata(["run", "Count in the background."])
    await begun.promise
    running.signal("SIGKILL")
    await running.ended
    const page = await agents(bench, "show", "agent-1")
    expect(page).toMatch(/agent-1: agent-1, background, stopped\n/)
    expect(page).toContain("The program ended while it was working.")
    expect(page).toContain("[slow] Count.")
  },
)

test.runIf(isWhole)(
  "BEY-18 strata agents also lists those of earlier conversations, the newest first, and says how to read one",
  async () => {
    const runs = 11 // one more than the page lists
    const turns = Array.from({ length: runs }, () => [agentCall("[quick] Count."), "Done."]).flat()
    await using bench = await workbench({
      turns: [...turns, "No one worked for me."],
      cast: { quick: Array.from({ length: runs }, (_, at) => `There are ${at}.\u001b[2J`) },
    })
    for (let at = 0; at < runs; at++) expect(await bench.here(["run", `Count ${at}.`])).toMatchObject({ code: 0 })
    expect(await bench.here(["run", "Work alone."])).toMatchObject({ code: 0 })
    const page = await agents(bench)
    expect(page).toMatch(/^This conversation has started no agents\.\n\nEarlier conversations\n/)
    expect(page.match(/^ {2}[0-9a-f]{8} +agent-1 .* completed .*\$0\.\d+ /gm)).toHaveLength(10)
    expect(page).toContain("… and more: strata agents --all")
    expect(page).not.toContain("\u001b")
    const [, id] = /strata agents show agent-1 --conversation\s+([0-9a-f]{8})/.exec(page)!
    const shown = await agents(bench, "show", "agent-1", "--conversation", id!)
    expect(shown).toMatch(/journal: .*subagents\/agent-1\.jsonl\n/)
    expect(shown).toContain(`There are ${runs - 1}.`)
    const { earlier } = JSON.parse(await agents(bench, "--all", "--json")) as { earlier: readonly { id: string }[] }
    expect(earlier).toHaveLength(runs)
    const times = (earlier as unknown as readonly { started: string }[]).map(({ started }) => started)
    expect(times).toEqual(times.toSorted().reverse())
    expect(await agents(bench, "--conversation", id!)).not.toContain("Earlier")
    expect(await bench.here(["agents", "tail", "agent-1", "--all"])).toMatchObject({ code: 2 })
  },
)
