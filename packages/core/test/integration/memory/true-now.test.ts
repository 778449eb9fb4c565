/**
 * What a user states in one conversation, and how the next one starts: the newest value of a fact with one value at a time, and all other
 * statements together.
 */
import { describe, expect, onTestFinished, test } from "vitest"
import { manualClock, projectName } from "../../../src/base/clock.ts"
import { namespaceFor } from "../../../src/base/owner.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { openBank } from "../../../src/memory/bank.ts"
import { isCurrentMemory } from "../../../src/memory/memory.ts"
import { project } from "../agent/agents.ts"

const CHANGED = `
I live in Paris. | I moved to Berlin.
Call me Bob. | Call me Robert from now on.
Answer in English. | From now on, answer in German.
Never deploy on Fridays. | Deploying on Fridays is fine from now on.
The deadline is April 20. | We moved the deadline to May 3.
Bo owns billing. | Ana took over billing from Bo.
We use Jest. | We switched from Jest to Vitest.
The limit is 50. | The limit is now 80.
I work for Orbis. | I now work for Kestrel.
My boss is Henrik. | My boss is Noor now.
The rent is $900. | They raised the rent to $1,050.
The demo is on Tuesday. | The demo was postponed to Thursday.
Our mail provider is Postbird. | We replaced Postbird with Letterbox.
Tests run on Travis. | We migrated from Travis to Buildkite.
The office is in Ghent. | The office has moved to Leuven.
Always write the changelog in French. | Write the changelog in English from now on.
My phone number is 555-0142. | My new phone number is 555-0188.
The timeout of Orion is 30 seconds. | We raised the timeout of Orion from 30 seconds to 45 seconds.
Carla is the head of sales. | Dmitri is the new head of sales.
The port of the relay is 80. | The port of the relay is 81.
Ada maintains the crawler. | Ada handed the crawler over to Tomek.
Use tabs for indentation. | Use spaces instead of tabs for indentation.
The free plan lasts 14 days. | The free plan was extended to 30 days.
The build needs an hour. | Correction: the build needs two hours.
We need two approvals. | We no longer need two approvals.
My surname is Keller. | I got married, my surname is now Brandt.
Our goal is 70%. | Our goal has gone up from 70% to 85%.
We pay 40 euros a month for hosting. | We now pay 65 euros a month for hosting.
`
const SIDE_BY_SIDE = `
I speak German. | I speak Polish.
My daughter is Lea. | My daughter is Nina.
The app runs in Frankfurt. | The app runs in Dublin.
Our customers are in Spain. | Our customers are in Italy.
#ops is where outages are discussed. | #sales is where offers are discussed.
Ana lives in Bergen. | Bo lives in Cork.
My brother lives in Oslo. | I moved to Berlin.
I have a cat named Miso. | I have a cat named Tofu.
We use Postgres. | We use Redis.
The port of Orion is 5010. | The port of Vega is 5020.
The timeout is 30 seconds in production. | The timeout is 60 seconds in staging.
Never deploy on Fridays. | Never deploy on holidays.
I'm allergic to nuts. | I'm allergic to penicillin.
Jest is slow. | The mobile team switched from Mocha to Vitest.
Bo likes tea. | Henrik took over billing from Bo.
I was born in Lyon. | I live in Paris.
The deadline for the audit is May 3. | We moved the deadline for the launch to June 9.
My colleague Ruth works for Orbis. | I now work for Kestrel.
The kitchen is on the first floor. | The library moved to the third floor.
We meet on Mondays. | We meet on Thursdays.
I play chess. | I now play the oboe.
The web team uses npm. | The data team now uses pnpm.
My sister is a nurse. | My sister is a mother.
The limit of Orion is 50. | The limit of Vega is now 80.
`
const pairs = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split(" | ") as [string, string])

function ada() {
  const where = project()
  const clock = manualClock("2026-05-01T12:00:00.000Z")
  const files = fileStore({ root: where.dir, clock }).memories({ project: namespaceFor(projectName(where.cwd), "ada") })
  const bank = openBank({ files, clock })
  return {
    ...{ bank, clock },
    keep: (body: string) =>
      bank.change({
        ...{ by: "extraction", why: "Learned", source: { saidBy: "user", conversation: "c", message: body } },
        puts: [{ name: body, body, type: "user" }],
      }),
    /** Sends the text in a new conversation, without a model for memories. Resolves with its first request. */
    async says(text: string): Promise<string> {
      const id = `on-${clock.now().toISOString().slice(0, "2026-05-01".length)}`
      const chat = await openConversation({
        ...{ model: "claude-opus-4-6", id, env: {}, clock, ...where, memory: { owner: "ada" } },
        settings: { flush: "never" },
      })
      onTestFinished(() => chat.close())
      await chat.add(text)
      const request = JSON.stringify((await chat.prepare()).messages)
      await chat.record({ id: `msg_${id}`, content: [{ type: "text", text: "All right." }] })
      await chat.whenIdle()
      await chat.close()
      clock.advance(86_400_000)
      return request
    },
  }
}

describe("L5-11 the next conversation starts with current facts", () => {
  test.each(pairs(CHANGED))("L5-11 %s Then: %s", async (earlier, later) => {
    const { bank, keep, says, clock } = ada()
    await keep(earlier)
    clock.advance(86_400_000)
    await says(later)
    const memories = await bank.all()
    const [old, fresh] = [earlier, later].map((body) => memories.find((memory) => memory.body === body))
    expect(fresh, "what replaces something is kept").toBeDefined()
    expect(isCurrentMemory(fresh!)).toBe(true)
    expect(old!.supersededBy, "the earlier one has its end, and every byte").toBe(fresh!.file)
    expect(fresh!.created, "with a date").toBe("2026-05-02")
    const start = await says("Hello.")
    expect(start).toContain(JSON.stringify(later).slice(1, -2))
    expect(start).not.toContain(JSON.stringify(earlier).slice(1, -2))
  })

  test.each(pairs(SIDE_BY_SIDE))("L5-11 side by side: %s And: %s", async (one, other) => {
    const { bank, keep, says, clock } = ada()
    await keep(one)
    clock.advance(86_400_000)
    await says(other)
    if (!(await bank.all()).some(({ body }) => body === other)) await keep(other)
    expect((await bank.all()).filter(isCurrentMemory)).toHaveLength(2)
    const start = await says("Hello.")
    for (const body of [one, other]) expect(start).toContain(JSON.stringify(body).slice(1, -2))
  })

  test("L5-11 nothing of several is retired by a change that does not say which one it means", async () => {
    const { bank, keep, says } = ada()
    await keep("Noor is on call for billing.")
    await keep("Noor leads the payments team.")
    await says("Henrik took over from Noor.")
    expect((await bank.all()).filter(isCurrentMemory).map(({ body }) => body)).toEqual(
      expect.arrayContaining(["Noor is on call for billing.", "Noor leads the payments team."]),
    )
  })

  test.each([[["I live in Paris.", "I moved to Berlin."]], [["I live in Paris. I moved to Berlin."]]])(
    "L5-11 without a key the conversation after %j starts with Berlin",
    async (texts) => {
      const { says } = ada()
      for (const text of texts) await says(text)
      const start = await says("Hello.")
      expect(start).toContain("I moved to Berlin")
      expect(start).not.toContain("I live in Paris")
    },
  )
})
