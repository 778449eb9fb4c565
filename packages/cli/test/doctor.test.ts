/** `strata doctor`: one line for each check, and an exit code. Clients are small programs on a separate PATH. */
import { once } from "node:events"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { handleRequest } from "@strata/plugins"
import { describe, expect, test } from "vitest"
import { type WrapOptions, wrapping } from "./wrapping.ts"

interface Check {
  readonly name: string
  readonly state: string
  readonly about: string
}

async function checks(
  place: WrapOptions,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
) {
  const { code, stdout, stderr } = await place.here(["doctor", "--json", ...args], env)
  const all = (JSON.parse(stdout) as { checks: readonly Check[] }).checks
  return { code, stdout, stderr, of: (name: string) => all.find((check) => check.name === name) }
}

/** A PATH with this client only. */
function withClient(place: WrapOptions, name: string, version: string): { readonly PATH: string } {
  const bin = join(place.project, "bin")
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, name), `#!/bin/sh\necho "${version}"\n`)
  chmodSync(join(bin, name), 0o755)
  return { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` }
}

describe("BEY-11 strata doctor", () => {
  test("everything is there: client and version, server, cache by two requests, port, disk, Node", async () => {
    await using place = await wrapping()
    const env = { ...withClient(place, "claude", "2.1.325 (Claude Code)"), ANTHROPIC_API_KEY: "sk-very-secret-key" }
    const { code, of, stdout } = await checks(place, ["claude", "--yes"], { ...env, ENABLE_TOOL_SEARCH: "true" })
    expect(code, stdout).toBe(0)
    expect(of("claude")).toMatchObject({ state: "ok", about: "2.1.325 (Claude Code)" })
    expect(of("cache")).toMatchObject({ state: "ok", about: expect.stringMatching(/read \d+ tokens/) })
    for (const name of ["base URL", "on-demand tools", "server", "port", "disk", "Node"])
      expect(of(name)).toMatchObject({ state: "ok" })
    expect(stdout).not.toContain("sk-very-secret-key")
    expect(place.sim.stats().total.requests).toBe(2)
  })

  test("without a yes nothing is sent, and without a key it says so", async () => {
    await using place = await wrapping()
    const asked = await checks(place, [], { ANTHROPIC_API_KEY: "sk-very-secret-key", ENABLE_TOOL_SEARCH: "true" })
    expect(asked.of("cache")).toMatchObject({ state: "not checked", about: expect.stringContaining("--yes") })
    expect((await checks(place, ["--yes"])).of("cache")?.about).toContain("ANTHROPIC_API_KEY")
    expect(place.sim.stats().total.requests).toBe(0)
  })

  test("compactions in Claude Code that fell back to its own are a problem, with their reasons (BEY-16)", async () => {
    await using place = await wrapping()
    expect((await checks(place, ["claude"])).of("plugin")).toBeUndefined()
    const note = (outcome: string, why?: string) => {
      const request = { ask: "compacted", client: "claude-code", session: "one", outcome, why }
      return handleRequest(JSON.stringify(request), { STRATA_HOME: place.home })
    }
    await note("replaced")
    expect((await checks(place, ["claude"])).of("plugin")).toMatchObject({ state: "ok" })
    await note("fell-back", "no answer within 10 s")
    await note("fell-back", "no answer within 10 s")
    await note("left")
    await note("recorded")
    const { of, code } = await checks(place, ["claude"])
    expect(of("plugin")?.about).toMatch(
      /^2 of 5 compactions in Claude Code fell back to its own, the newest on .*: no answer within 10 s \(2 times\)/,
    )
    expect(code).toBe(1)
  })

  test("a server that cannot be reached or is broken is a problem, and the exit code is 1", async () => {
    await using place = await wrapping()
    const server = createServer((_, response) => response.writeHead(503).end())
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const broken = await checks(place, ["--upstream", url])
    expect(broken.code).toBe(1)
    expect(broken.of("server")).toMatchObject({ state: "problem", about: expect.stringContaining("status 503") })
    server.close()
    const gone = await checks(place, ["--upstream", url, "--yes"], { ANTHROPIC_API_KEY: "k" })
    expect(gone.code).toBe(1)
    expect(gone.of("server")).toMatchObject({ state: "problem", about: expect.stringContaining("cannot be reached") })
    const text = await place.strata(["doctor", "--upstream", url])
    expect(text.stdout).toMatch(/^problem +server +http/m)
  })

  test("a client that is missing, tools that are off, a base URL in Claude Code's settings, a port in use", async () => {
    await using place = await wrapping()
    mkdirSync(join(place.project, ".claude"))
    const settings = join(place.project, ".claude", "settings.json")
    writeFileSync(settings, JSON.stringify({ env: { ANTHROPIC_BASE_URL: `${place.sim.url}/secret-path` } }))
    const port = new URL(place.sim.url).port
    const { code, of, stdout } = await checks(place, ["claude", "--port", port], { PATH: "/nowhere" })
    expect(code).toBe(1)
    expect(of("claude")).toMatchObject({ state: "problem", about: expect.stringContaining("not on the PATH") })
    expect(of("base URL")).toMatchObject({ state: "ok", about: expect.stringContaining(settings) })
    expect(of("on-demand tools")).toMatchObject({
      state: "problem",
      about: expect.stringContaining("ENABLE_TOOL_SEARCH"),
    })
    expect(of("port")).toMatchObject({ state: "problem", about: expect.stringContaining("another program") })
    expect(stdout).not.toContain("secret-path")
  })

  test("BEY-12 the store that STRATA_STORE names is asked, and files need no other check than their disk", async () => {
    await using place = await wrapping()
    expect((await checks(place, [])).of("store")).toBeUndefined()
    const answers = await checks(place, [], { STRATA_STORE: "memory:" })
    expect(answers.of("store")).toMatchObject({ state: "ok", about: "memory answers" })
    const unknown = await checks(place, [], { STRATA_STORE: "elsewhere://me:secret@db" })
    expect(unknown.of("store")).toMatchObject({ state: "problem", about: expect.stringContaining("elsewhere:") })
    expect(unknown.stdout).not.toContain("secret")
  })

  test("a Strata directory that cannot be written is a problem", async () => {
    await using place = await wrapping()
    const { of } = await checks(place, [], { STRATA_HOME: "/dev/null/strata" })
    expect(of("disk")).toMatchObject({ state: "problem", about: expect.stringContaining("STRATA_HOME") })
  })
})
