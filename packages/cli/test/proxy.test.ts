/** `strata proxy`: a process that listens until it is stopped, and the output of `--status`. */
import { globSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { MAIN } from "./strata-process.ts"
import { PROGRAM, type WrapOptions, wrapping } from "./wrapping.ts"

const BASE_URL = /^ {2}(http:\/\/127\.0\.0\.1:\d+\/[\w-]+)$/m

async function started(place: WrapOptions, ...args: readonly string[]) {
  const running = place.start([process.execPath, MAIN, "proxy", "--upstream", place.sim.url, ...args])
  const [, url] = await running.printed(BASE_URL)
  return { ...running, url: url! }
}

const ask = (place: WrapOptions, url: string, rounds: string, OPENING = "Go through the files.") =>
  place.start([process.execPath, PROGRAM, rounds], { ANTHROPIC_BASE_URL: url, OPENING }).ended

describe("BEY-11 strata proxy", () => {
  test("prints the base URL with a line for each client; a client uses it; Ctrl-C ends it with the bill", async () => {
    await using place = await wrapping()
    const proxy = await started(place)
    const { code, stdout } = await ask(place, proxy.url, "3")
    expect([code, stdout.split("\n").length]).toEqual([0, 4])
    proxy.signal("SIGINT")
    const ended = await proxy.ended
    expect(ended.code).toBe(0)
    for (const client of ["Claude Code", "SDKs", "AI SDK", "pi", "opencode"]) expect(ended.stdout).toContain(client)
    const cost = Number(/cost \$([\d.]+)/.exec(ended.stderr)?.[1])
    expect(cost).toBeCloseTo(place.sim.stats().total.dollars, 4)
    expect(ended.stderr).not.toContain("POST")
  })

  test.runIf(isWhole)(
    "--status sees every proxy: conversation, size, cache and money next to direct; none when they have ended",
    async () => {
      await using place = await wrapping()
      const proxies = [await started(place), await started(place, "--observe")]
      await ask(place, proxies[0]!.url, "3")
      await ask(place, proxies[1]!.url, "2", "Look around.")
      const text = await place.here(["proxy", "--status"])
      expect(text.code, text.stderr).toBe(0)
      expect(text.stdout).toContain("Go through the files.")
      expect(text.stdout).toContain("observes")
      expect(text.stdout).toContain("manages")
      const json = await place.here(["proxy", "--status", "--json"])
      const seen = JSON.parse(json.stdout).proxies as { mode: string; conversations: Record<string, number>[] }[]
      expect(seen.map(({ mode, conversations }) => [mode, conversations.map(({ requests }) => requests)])).toEqual([
        ["manage", [3]],
        ["observe", [2]],
      ])
      const bill = seen.flatMap(({ conversations }) => conversations).reduce((sum, { cost }) => sum + cost!, 0)
      expect(bill).toBeCloseTo(place.sim.stats().total.dollars, 6)
      for (const proxy of proxies) {
        expect(text.stdout + json.stdout).not.toContain(new URL(proxy.url).pathname.slice(1))
        proxy.signal("SIGTERM")
        await proxy.ended
      }
      expect((await place.here(["proxy", "--status"])).stdout).toContain("No proxy runs.")
    },
  )

  test("the file that says where it runs is the person's alone; what a killed proxy left is removed", async () => {
    await using place = await wrapping()
    const proxy = await started(place)
    const [file] = globSync(join(place.home, "proxies", "*"))
    expect(statSync(file!).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file!, "utf8"))).toMatchObject({ pid: proxy.pid, url: proxy.url })
    proxy.signal("SIGKILL")
    await proxy.ended
    expect((await place.here(["proxy", "--status"])).stdout).toContain("No proxy runs.")
    expect(readdirSync(join(place.home, "proxies"))).toEqual([])
  })

  test.runIf(isWhole)(
    "ANTHROPIC_BASE_URL is the client's: it is never the upstream, and a sentence says how to name one",
    async () => {
      await using place = await wrapping()
      const proxy = place.start([process.execPath, MAIN, "proxy"])
      await proxy.printed(BASE_URL)
      proxy.signal("SIGTERM")
      const { stdout, stderr } = await proxy.ended
      expect(stdout).toContain("to https://api.anthropic.com")
      expect(stderr).toMatch(/^ANTHROPIC_BASE_URL names http:\/\/127\.0\.0\.1:\d+, but .* STRATA_UPSTREAM/)
    },
  )

  test.runIf(isWhole)(
    "--verbose has a line for each request, without the secret; a port that is taken is named",
    async () => {
      await using place = await wrapping()
      const proxy = await started(place, "--verbose")
      await ask(place, proxy.url, "1")
      const port = new URL(proxy.url).port
      const second = await place.here(["proxy", "--port", port, "--upstream", place.sim.url])
      expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`cannot listen on port ${port}`) })
      proxy.signal("SIGTERM")
      const { stderr } = await proxy.ended
      expect(stderr).toContain("POST /v1/messages 200, replaced")
      expect(stderr).not.toContain(new URL(proxy.url).pathname.slice(1))
    },
  )
})
