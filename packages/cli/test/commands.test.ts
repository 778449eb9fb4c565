/** The commands: their output, error messages and exit codes. They run as processes only if a test concerns the process. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { storeLimit } from "../../core/src/conversation/window.ts"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { has, needs } from "../../core/test/needs.ts"
import { isWhole } from "../../core/test/size.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace, type Place, strata } from "./strata-process.ts"

const RECORDINGS = join(import.meta.dirname, "..", "..", "..", "..", "shared", "data", "transcripts")

let place: Place
beforeAll(() => {
  place = emptyPlace()
})
afterAll(() => place.remove())
const run = (...args: string[]) => strataHere(args, place)
const start = (...args: string[]) => strata(args, place)

describe("strata", () => {
  it("explains itself without arguments, with --help and with help", async () => {
    const [bare, option, word] = await Promise.all([start(), run("--help"), run("help")])
    expect(bare).toMatchObject({ code: 0, stderr: "" })
    expect(bare.stdout).toContain("strata COMMAND [options]")
    expect(option).toEqual(bare)
    expect(word).toEqual(bare)
  })

  it("explains a command", async () => {
    const { code, stdout } = await run("inspect", "--help")
    expect(code).toBe(0)
    expect(stdout).toContain("strata inspect FILE… [options]")
  })

  it("explains a command and a group after help", async () => {
    expect(await run("help", "inspect")).toEqual(await run("inspect", "--help"))
    expect(await run("--help", "sim")).toEqual(await run("sim", "--help"))
    const { code, stdout } = await start("help", "--no-color", "look")
    expect(code).toBe(0)
    expect(stdout).toMatch(/strata help look: .*\n\nCommands\n {2}inspect .*strata usage/s)
  })

  it.each([
    [["inspekt"], 'strata has no command inspekt. Did you mean "strata inspect"?\n'],
    [["demo", "--wndow", "5"], "strata demo has no option --wndow. Did you mean --window?\n"],
    [["--colour"], 'strata has no option --colour. "strata --help" lists the options.\n'],
    [["--halp"], "strata has no option --halp. Did you mean --help?\n"],
    [["dance"], 'strata has no command dance. "strata --help" lists the commands.\n'],
    [["help", "dance"], 'strata has no command dance. "strata --help" lists the commands.\n'],
    [["help", "inspekt"], 'strata has no command inspekt. Did you mean "strata inspect"?\n'],
    [["help", "conect"], 'strata has no command conect. Did you mean "strata help connect"?\n'],
    [["look"], 'look is a group of commands. "strata help look" lists them.\n'],
    [["inspect", "nothing.jsonl"], "The file nothing.jsonl does not exist.\n"],
    [["compare", "."], ". is a directory. Name the files in it, such as ./*.jsonl.\n"],
  ])("answers %j with a sentence and exit code 2", async (args, sentence) => {
    expect(await (args[0] === "dance" ? start : run)(...args)).toEqual({ code: 2, stdout: "", stderr: sentence })
  })

  it("says its version", async () => {
    expect((await start("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it("colours only where it is asked to, and never against --no-color", async () => {
    const env = { ...place.env, FORCE_COLOR: "1" }
    expect((await strata(["--help"], { ...place, env })).stdout).toContain("\u001b[")
    expect((await strata(["--help", "--no-color"], { ...place, env })).stdout).not.toContain("\u001b[")
    expect((await strata(["--help"], { ...place, env: { ...env, NO_COLOR: "1" } })).stdout).not.toContain("\u001b[")
  })

  it("hands the simulator its arguments", async () => {
    expect(await start("sim", "--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--responder") })
    expect(await start("sim", "--port", "none")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--port must be"),
    })
  })
})

describe("strata config", () => {
  it("shows where each value came from (SET-1)", async () => {
    mkdirSync(join(place.cwd, ".strata"), { recursive: true })
    mkdirSync(place.env.STRATA_HOME!, { recursive: true })
    writeFileSync(join(place.env.STRATA_HOME!, "settings.json"), '{ "autoCompactPercent": 70, "flush": "never" }')
    writeFileSync(join(place.cwd, ".strata", "settings.json"), '{ "autoCompactPercent": 80 }')
    const { code, stdout } = await strataHere(["config"], { ...place, env: { ...place.env, STRATA_NOTES: "0" } })
    expect(code).toBe(0)
    expect(stdout).toMatch(/autoCompactPercent +80 +project file/)
    expect(stdout).toMatch(/flush +never +user file/)
    expect(stdout).toMatch(/maxOutputTokens +32,000 +default/)
    expect(stdout).toMatch(/notes +off .* environment$/m)
    expect(stdout).toContain("(STRATA_NOTES)")
    expect(stdout).toMatch(/user +\S+settings\.json +read/)
  })

  it("a long variable takes no room from its description", async () => {
    const env = { ...place.env, STRATA_MESSAGE_RESULTS_LIMIT: "5000" }
    const [usual, { stdout }] = await Promise.all([run("config"), strataHere(["config"], { ...place, env })])
    expect(stdout.split("\n").length).toBeLessThan(1.4 * usual.stdout.split("\n").length)
    for (const line of stdout.split("\n").filter((text) => !text.includes(place.cwd)))
      expect([...line].length, line).toBeLessThanOrEqual(80)
  })

  it("BEY-12 says what the project is called, and what named it", async () => {
    const { stdout } = await strataHere(["config"], { ...place, env: { ...place.env, STRATA_PROJECT: "the shop" } })
    expect(stdout).toContain("the shop (from STRATA_PROJECT)")
    expect(JSON.parse((await run("config", "--json")).stdout).project).toMatchObject({ from: "path" })
  })

  it("BEY-12 names the store that STRATA_STORE names", async () => {
    const { stdout } = await strataHere(["config"], { ...place, env: { ...place.env, STRATA_STORE: "memory:" } })
    expect(stdout).toContain("\nStore\n  memory\n")
    expect(JSON.parse((await run("config", "--json")).stdout).store).toBeUndefined()
  })

  it("WIN-9 shows the limits that servers have shown, and forgets them", async () => {
    const home = place.env.STRATA_HOME!
    const learned = { model: "claude-opus-5-5", address: "http://127.0.0.1:8080", tokens: 40_000 }
    await storeLimit(fileStore({ root: home }).memories({ shared: true }), {
      ...learned,
      learned: "2026-01-02T03:04:05.000Z",
    })
    const shown = await run("config")
    expect(shown.stdout).toMatch(/claude-opus-5-5 +http:\/\/127\.0\.0\.1:8080 +40,000 +2026-01-02/)
    expect(JSON.parse((await run("config", "--json")).stdout).limits).toMatchObject([learned])
    expect((await run("config", "--forget-limits")).stdout).toMatch(/^Forgot 1 learned limit\./)
    expect((await run("config")).stdout).not.toContain("Learned limits")
  })

  it("gives a program the same, without secrets", async () => {
    const servers = {
      gh: { command: "npx", env: { TOKEN: "very-secret" } },
      web: { url: "https://x.test", headers: { A: "very-secret" } },
    }
    const file = join(place.env.STRATA_HOME!, "settings.json")
    writeFileSync(file, JSON.stringify({ mcpServers: servers }))
    const { stdout } = await run("config", "--json")
    expect(stdout).not.toContain("very-secret")
    expect(JSON.parse(stdout).settings).toContainEqual({
      key: "mcpServers.gh",
      value: { command: "npx", env: { TOKEN: "(hidden)" } },
      origin: file,
      environment: [],
    })
  })

  it("says what is wrong with a file, and where", async () => {
    const file = join(place.cwd, ".strata", "settings.json")
    writeFileSync(file, '{ "flsh": "turn", "contextWindow": -1 }')
    const { code, stdout, stderr } = await run("config")
    expect(code).toBe(1)
    expect(stdout).toContain("Settings files")
    expect(stderr).toContain(file)
    expect(stderr).toContain("flsh: is not a known setting")
    expect(stderr).toContain("contextWindow: ")
    writeFileSync(file, "{}")
  })
})

describe("strata inspect", needs("transcripts"), () => {
  const recordings = has("transcripts")
    ? readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:jsonl|json|traj)$/.test(name))
        .map((name) => join(RECORDINGS, name))
        .toSorted((a, b) => statSync(a).size - statSync(b).size)
    : []

  it.runIf(isWhole)("reads every recording, in 80 columns", async () => {
    const { code, stdout, stderr } = await start("inspect", ...recordings)
    expect({ code, stderr: stderr.replaceAll(/^Reading .*\n/gm, "") }).toEqual({ code: 0, stderr: "" }) // a slow machine shows progress lines
    expect(stdout).toMatch(/^\d+ conversations$/m)
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(80)
  })

  it("gives a program everything as JSON", async () => {
    const { code, stdout } = await run("inspect", "--json", ...recordings.slice(0, 3))
    expect(code).toBe(0)
    for (const { content, growth, cache, money } of JSON.parse(stdout).conversations) {
      expect(content.total).toBeGreaterThan(0)
      expect(growth.sizes.length).toBeGreaterThan(0)
      expect(cache.hitRatio).toBeGreaterThanOrEqual(0)
      expect(Array.isArray(money.lines)).toBe(true)
    }
  })

  it.runIf(isWhole)("replays a recording through layers 1 and 2 where that is asked for", async () => {
    const { code, stdout } = await run("inspect", "--layers", recordings[0]!)
    expect(code).toBe(0)
    expect(stdout).toContain("compared with sending everything, with the same")
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(80)
    const recording = recordings.find((name) => name.endsWith("9e953218-sonnet45.jsonl"))! // long enough for savings
    const { reports } = JSON.parse((await run("inspect", "--layers", "--json", recording)).stdout).conversations[0]
      .layers
    const names = reports.map(({ policy }: { policy: string }) => policy)
    expect(names).toEqual(["nothing", "keep-last-10", "sliding-3", "strata"])
    expect(reports[3].totals.dollars).toBeLessThan(reports[0].totals.dollars)
  })

  it("looks at the other files where one cannot be read", async () => {
    writeFileSync(join(place.cwd, "poem.jsonl"), "not a transcript")
    const { code, stdout, stderr } = await run("inspect", join(place.cwd, "poem.jsonl"), recordings[0]!)
    expect(code).toBe(1)
    expect(stderr).toContain("poem.jsonl was not imported")
    expect(stdout).toContain("Where the context went")
  })
})
