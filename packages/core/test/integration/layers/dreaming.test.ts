import { describe, expect, test } from "vitest"
import type { Responder } from "../../../../sim/src/responder.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import { openDreamTools } from "../../../src/agent/dream-tools.ts"
import { consolidateWithModel, type DreamDirectories } from "../../../src/layers/6-dreaming/consolidate/consolidate.ts"
import { linkedFile } from "../../../src/memory/index-file.ts"
import { isCurrentMemory } from "../../../src/memory/memory.ts"
import { answerOffline } from "../../../src/model/offline/answer.ts"
import { dreamProject, FIGURES, memoriesIn, memoryText, OTHERS } from "../../dreams.ts"
import { isWhole } from "../../size.ts"
import { scratchDirectory } from "../../tool-context.ts"
import { modelAt } from "../model/model.ts"

const MEMORIES = process.env.FUZZ_RUNS ? 1_000 : 300
const order = { figures: FIGURES, force: true }
const day = (n: number) => `2026-0${1 + (n % 4)}-${String(1 + (n % 28)).padStart(2, "0")}`

/** The offline model over HTTP: a dream's result depends on what the model finds. */
const dreamer: Responder = { name: "dreamer", answer: (turn) => ({ content: answerOffline(turn) ?? [] }) }

async function project() {
  const sim = await simulator({ responder: dreamer })
  const at = dreamProject(scratchDirectory())
  const model = await modelAt(sim)
  const surroundings = { clock: at.clock, env: process.env }
  const openTools = (reach: DreamDirectories) => openDreamTools(reach, surroundings)
  return { ...at, sim, dreams: () => at.dreaming(consolidateWithModel({ model, openTools })) }
}

/** Every sixth memory repeats the one before it, contradicts it, has its name, or points to nothing. */
function generated(count: number): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (let n = 0; n < count; n++) {
    const subject = n % 6
    const about = n - subject
    const [name, body] = [
      [`Place ${n}`, `The place of part ${about} is shelf ${n}.`],
      [`Where ${n}`, `The place of part ${about} is shelf ${n}.`], // contradicts
      [`Again ${n}`, `Part ${about} was measured in the north hall.`],
      [`Once more ${n}`, `Part ${about} was measured in the north hall.`], // repeats
      [`Pointer ${about}`, `Part ${about} is described in [the list](list-${n}.md) and [here](m-${about}.md).`],
      [`Pointer ${about}`, `Part ${about} is described in [another list](other-${n}.md).`], // has the same name
    ][subject] as [string, string]
    texts[`m-${n}.md`] = memoryText(name, body, { confirmed: day(n), source: { "said-by": "user" } })
  }
  const lines = Array.from({ length: 20 }, (_, n) => `- [Lost ${n}](lost-${n}.md)`)
  return { ...texts, "MEMORY.md": `${lines.join("\n")}\n` }
}

describe("L6-3 dreams against the simulator", () => {
  test("L6-3 L6-6 a contradiction, a repetition and a dead pointer are gone after one dream, and it says why", async () => {
    const at = await project()
    at.write({
      ...OTHERS,
      ...Object.fromEntries(["a", "b"].map((name) => [`${name}.md`, memoryText(name, `Hall ${name} is closed.`)])),
      "port.md": memoryText("Port", "The port is 80.", { confirmed: "2026-01-01" }),
      "server.md": memoryText("Server", "The port is 8080.", { confirmed: "2026-03-01" }),
      "logo.md": memoryText("Logo", "Marta draws the logo."),
      "drawing.md": memoryText("Drawing", "Marta draws the logo.", { confirmed: "2026-02-01" }),
      "MEMORY.md": "- [Port](port.md)\n- [Gone](gone.md)\n",
    })
    const dreaming = at.dreams()
    const end = await dreaming.dream(order)
    expect(end).toMatchObject({
      state: "installed",
      change: {
        by: "dream",
        why: "1 older memory said the same. Newer ones supersede them now.",
      },
    })
    expect((await at.bank.get("port.md"))?.supersededBy).toBe("server.md")
    expect(at.read("MEMORY.md")).not.toContain("gone.md")
    expect(at.read("MEMORY.md")).not.toContain("(port.md)")
    expect(dreaming.state).toMatchObject({ status: "completed", phase: "updating", toolUses: 10 })
    expect(end.responses.length).toBe(3)
    await at.sim.close()
  })

  test.runIf(isWhole)(
    `L6-3 L6-7 ${MEMORIES} memories: no contradiction, no repetition, no dead pointer is left, and nothing is gone`,
    async () => {
      const at = await project()
      at.write(generated(MEMORIES))
      await at.bank.all()
      const before = memoriesIn(at.everything())
      const dreaming = at.dreams()
      expect(await dreaming.dream(order)).toMatchObject({ state: "pending" }) // a third would be removed from the index
      const accepted = await dreaming.accept()
      if (accepted.state !== "installed") throw new Error(accepted.state)
      const current = (await at.bank.all()).filter(isCurrentMemory)
      const subjects = current.flatMap(({ body }) => /^(The place of part \d+) is/.exec(body)?.[1] ?? [])
      expect(new Set(subjects).size).toBe(subjects.length)
      expect(new Set(current.map(({ body }) => body)).size).toBe(current.length)
      const pointers = current.filter(({ name }) => name.startsWith("Pointer"))
      expect(pointers.length, "one name is not one thing").toBe(2 * new Set(pointers.map(({ name }) => name)).size)
      const files = new Set(current.map(({ file }) => file))
      const targets = current.flatMap(({ body }) => [...body.matchAll(/\]\(([^)]+)\)/g)].map(([, file]) => file!))
      expect(targets.filter((file) => !files.has(file))).toEqual([])
      const lines = at
        .read("MEMORY.md")
        .split("\n")
        .map(linkedFile)
        .filter((file) => file !== undefined)
      expect(lines.filter((file) => !files.has(file))).toEqual([])
      expect(new Set(lines)).toEqual(files)
      const everything = at.everything()
      const kept = new Set(everything.values())
      expect([...before].filter(([, text]) => !kept.has(text)).map(([file]) => file)).toEqual([])
      expect([...before.keys()].filter((file) => !everything.has(file))).toEqual([])
      await at.bank.revert(accepted.change.id)
      expect(memoriesIn(at.everything())).toEqual(before)
      await at.sim.close()
    },
  )
})
