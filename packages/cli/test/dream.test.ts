/** `strata dream`, with the simulator as the model. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { extractiveResponder, type Responder, type ScriptedTurn } from "@strata/sim"
import { expect, test } from "vitest"
import { projectAt } from "../../core/src/base/project.ts"
import { isWhole } from "../../core/test/size.ts"
import { workbench } from "./workbench.ts"

const memory = (name: string, body: string, confirmed: string) =>
  `---\nname: ${name}\ndescription: ${body}\ntype: project\nconfirmed: ${confirmed}\n---\n\n${body}\n`

async function dreamBench() {
  const responder: Responder = extractiveResponder()
  const turn: ScriptedTurn = (asked) => responder.answer(asked)
  const bench = await workbench({ turns: Array.from({ length: 12 }, () => turn) })
  const { name } = await projectAt({ cwd: bench.project, env: process.env })
  const directory = join(bench.home, "projects", name, "memory")
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "port.md"), memory("Port", "The port is 8080.", "2026-01-01"))
  writeFileSync(join(directory, "server.md"), memory("Server", "The port is 8080.", "2026-03-01"))
  for (const [name, body] of Object.entries({
    tide: "Ferries leave Bergen at noon.",
    oven: "Marta bakes rye bread.",
    owl: "Owls hoot.",
  }))
    writeFileSync(join(directory, `${name}.md`), memory(name, body, "2026-01-01"))
  return { bench, directory, read: (file: string) => readFileSync(join(directory, file), "utf8") }
}

test.runIf(isWhole)(
  "L6-5 L6-6 a dream now is one change that can be taken back; status and kill say what there is",
  async () => {
    const { bench, read } = await dreamBench()
    await using _ = bench
    expect((await bench.here(["dream", "status"])).stdout).toContain("there has been none yet")
    expect(await bench.here(["dream", "kill"])).toMatchObject({ code: 1, stderr: "No dream is running.\n" })
    const dreamed = await bench.strata(["dream"]).ended
    expect(dreamed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Revert it with: strata memory revert 2"),
    })
    expect(dreamed.stdout).toMatch(/It cost \$0\.\d+\.\n$/)
    expect(dreamed.stderr).toContain("updating")
    const status = (await bench.here(["dream", "status"])).stdout.replaceAll(/\s+/g, " ")
    expect(status).toMatch(/It cost (\$[\d.]+)\. .*Memory work has cost \1 today, of at most \$2\.00\./)
    expect(read("port.md")).toContain("superseded-by: server.md")
    const { dream } = JSON.parse((await bench.here(["dream", "status", "--json"])).stdout)
    expect(dream).toMatchObject({ status: "completed", phase: "updating", change: "2" })
    await bench.here(["memory", "revert", "2", "--yes"])
    expect(read("port.md")).not.toContain("superseded-by")
  },
)

test("L5-9 the status says that the day's limit is used up, and a dream that you start runs all the same", async () => {
  const { bench } = await dreamBench()
  await using _ = bench
  const env = { STRATA_MEMORY_DAILY_LIMIT: "0.000001", STRATA_DREAM_INTERVAL: "0", STRATA_DREAM_CONVERSATIONS: "0" }
  await bench.here(["dream"])
  const status = (await bench.here(["dream", "status"], { env })).stdout.replaceAll(/\s+/g, " ")
  expect(status).toContain("and the limit is $0.000001 a day (memory-daily-limit)")
  expect(await bench.here(["dream"], { env })).toMatchObject({ code: 0 })
})

test("L6-7 in the mode ask a dream waits; review shows it, rejects or accepts it", async () => {
  const { bench, read } = await dreamBench()
  await using _ = bench
  const env = { STRATA_MEMORY: "ask" }
  const review = (...args: readonly string[]) => bench.here(["dream", "review", ...args])
  expect((await bench.here(["dream"], { env })).stdout).toContain("waits for your consent")
  expect(read("port.md")).not.toContain("superseded-by")
  expect(await review()).toMatchObject({ code: 2, stderr: expect.stringContaining("--accept or --reject") })
  expect((await review("--reject")).stdout).toContain("The change was dropped.")
  expect((await review()).stdout).toBe("No dream waits for your consent.\n")
  await bench.here(["dream"], { env })
  const accepted = await review("--accept")
  expect(accepted.stdout).toContain("+superseded-by: server.md")
  expect(accepted.stdout).toContain("Revert it with: strata memory revert 2")
  expect(read("port.md")).toContain("superseded-by: server.md")
})

test("BEY-6 mistakes get a sentence; without a key the dream asks no model; where memory is off nothing dreams", async () => {
  const { bench, read } = await dreamBench()
  await using _ = bench
  const ended = (args: readonly string[], env = {}) => bench.here(["dream", ...args], { env })
  expect(await ended(["stats"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean") })
  expect(await ended(["--accept"])).toMatchObject({ code: 2, stderr: expect.stringContaining("strata dream review") })
  const keyless = await ended([], { ANTHROPIC_BASE_URL: "" })
  expect(keyless).toMatchObject({ code: 0, stderr: expect.stringContaining("no API key, so no model is asked") })
  expect(read("port.md")).toContain("superseded-by: server.md")
  expect(await ended([], { STRATA_MEMORY: "off" })).toMatchObject({ code: 2, stderr: expect.stringContaining('"off"') })
})
