/** Sign-in with a real authorization server over HTTP in this process. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { oauthServer } from "../../../../../test/oauth-server.ts"
import { isWhole } from "../../../../../test/size.ts"
import { call, scratchDirectory, textIn } from "../../../../../test/tool-context.ts"
import type { SignInUser } from "../../../../tools/tool.ts"
import { openMcpTools } from "../mcp.ts"

async function open(url: string, root = scratchDirectory(), headers: Record<string, string> = {}) {
  const set = await openMcpTools({ hub: { url, headers } }, { cwd: root, root })
  onTestFinished(() => set.close())
  const hub = () => set.servers!()[0]!
  const echo = async () => {
    const tool = hub().tools.find(({ name }) => name === "mcp__hub__echo")!
    return textIn(await call(tool, { text: "hi" }))
  }
  return { set, hub, echo, root }
}

/** A user who opens the address at once, as a browser does, and waits for the sign-in to end. */
const browser: SignInUser = {
  visit: async (address, signal) => {
    const page = await fetch(address)
    expect(await page.text()).toContain("You can close this window")
    return new Promise((resolve) => {
      if (signal.aborted) resolve(undefined)
      signal.addEventListener("abort", () => resolve(undefined))
    })
  },
}

/** The address at which a browser on another machine would end, and which it cannot open. */
async function endOf(address: string): Promise<string> {
  const { headers } = await fetch(address, { redirect: "manual" })
  return headers.get("location")!
}

/** Status of a request with exactly this target. */
function statusOf(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path }, (response) => resolve(response.resume().statusCode)).on("error", reject)
  })
}

const signedIn = async (url: string) => {
  const opened = await open(url)
  await opened.hub().signIn!(browser)
  return opened
}

describe("PERM-3 an MCP server that needs a sign-in", () => {
  it("is reported with the command to run, and no one is asked", async () => {
    const { url, asked } = await oauthServer()
    const { set, hub } = await open(url)
    expect(hub()).toMatchObject({ state: "needs-sign-in", tools: [] })
    expect(set.problems).toEqual([
      'The MCP server hub is not available: you have to sign in first. Type /mcp login hub in "strata chat".',
    ])
    expect(asked).not.toContain("/register")
  })

  it.runIf(isWhole)(
    "knows a refused token also where a web server has put its own Response in place of the global one",
    async () => {
      const server = await oauthServer()
      const { echo } = await signedIn(server.url)
      server.expire()
      server.revoke()
      const { Response: usual } = globalThis
      globalThis.Response = class extends usual {}
      try {
        expect(await echo()).toContain("you have to sign in first")
      } finally {
        globalThis.Response = usual
      }
    },
  )

  it("works after the sign-in, in later sessions too, and renews its tokens", async () => {
    const server = await oauthServer()
    const { hub, echo, root } = await signedIn(server.url)
    expect(hub().state).toBe("connected")
    expect(await echo()).toBe("echo: hi")
    server.expire()
    expect(await echo()).toBe("echo: hi")
    const later = await open(server.url, root)
    expect(later.hub().state).toBe("connected")
    server.expire()
    server.revoke()
    expect(await later.echo()).toContain("you have to sign in first")
    expect(later.hub().state).toBe("needs-sign-in")
    await later.hub().signIn!(browser)
    expect(await later.echo()).toBe("echo: hi")
  })

  it.runIf(isWhole)(
    "asks for what a call needs and what it had, after a call that its token does not allow",
    async () => {
      const server = await oauthServer()
      const { hub, echo } = await signedIn(server.url)
      server.requiredScope = "write"
      expect(await echo()).toContain("you have to sign in again, because this needs more rights. Type /mcp login hub")
      expect(hub().state).toBe("connected")
      await hub().signIn!(browser)
      expect(server.requestedScope).toBe("write")
      expect(await echo()).toBe("echo: hi")
      server.requiredScope = "delete"
      expect(await echo()).toContain("you have to sign in again")
      await hub().signIn!(browser)
      expect(server.requestedScope).toBe("write delete")
      expect(await echo()).toBe("echo: hi")
    },
  )

  it("keeps tokens in a file of the owner's only, for this address only; a damaged one counts as none", async () => {
    const { url } = await oauthServer()
    const { root } = await signedIn(url)
    const folder = join(root, "sign-ins")
    const [name] = readdirSync(folder)
    const file = join(folder, name!)
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
    expect(readFileSync(file, "utf8")).toContain("access-token-1")
    const other = await oauthServer()
    expect((await open(other.url, root)).hub().state).toBe("needs-sign-in")
    writeFileSync(file, "{")
    expect((await open(url, root)).hub().state).toBe("needs-sign-in")
  })

  it("takes what the person pastes: the address that the browser ended at, or the code", async () => {
    const { url } = await oauthServer()
    const { hub } = await open(url)
    await hub().signIn!({ visit: endOf })
    expect(hub().state).toBe("connected")
    const code = async (address: string) => new URL(await endOf(address)).searchParams.get("code")!
    await hub().signIn!({ visit: code })
    expect(hub().state).toBe("connected")
  })

  it.each([
    ["the person gives up", async () => undefined, /cancelled/],
    [
      "the address is of another sign-in",
      async () => "http://127.0.0.1/callback?code=c&state=other",
      /another sign-in/,
    ],
    [
      "the server refuses",
      async (address: string) => `?error=access_denied&state=${new URL(address).searchParams.get("state")}`,
      /did not let you in \(access_denied\)/,
    ],
  ])("keeps nothing where %s", async (_, visit, why) => {
    const { url, asked } = await oauthServer()
    const { hub, root } = await open(url)
    await expect(hub().signIn!({ visit })).rejects.toThrow(why)
    expect(asked).not.toContain("/token")
    expect(readdirSync(root)).not.toContain("sign-ins")
  })

  it("is left alone by requests to the return address that do not know its state", async () => {
    const { url } = await oauthServer()
    const { hub } = await open(url)
    const visit = async (address: string) => {
      const back = new URL(new URL(address).searchParams.get("redirect_uri")!)
      back.search = "?code=stolen&state=guess"
      expect((await fetch(back)).status).toBe(400)
      return undefined
    }
    await expect(hub().signIn!({ visit })).rejects.toThrow(/cancelled/)
  })

  it("is not disturbed by a request whose target is not an address", async () => {
    const { url } = await oauthServer()
    const { hub } = await open(url)
    const visit = async (address: string) => {
      const { port } = new URL(new URL(address).searchParams.get("redirect_uri")!)
      expect(await statusOf(Number(port), "//")).toBe(400)
      return endOf(address)
    }
    await hub().signIn!({ visit })
    expect(hub().state).toBe("connected")
  })

  it("keeps its tokens where the server cannot renew them now", async () => {
    const server = await oauthServer()
    const { echo } = await signedIn(server.url)
    server.expire()
    server.beforeToken = async () => ({ status: 503, body: "<h1>Try again, refresh-token-1</h1>" })
    const answer = await echo()
    expect(answer).toContain("could not be renewed now")
    expect(answer).not.toContain("refresh-token")
    server.beforeToken = undefined
    expect(await echo()).toBe("echo: hi")
  })

  it.runIf(isWhole)("keeps the tokens that another process got meanwhile", async () => {
    const server = await oauthServer()
    const { echo, root } = await signedIn(server.url)
    const folder = join(root, "sign-ins")
    const file = join(folder, readdirSync(folder)[0]!)
    server.expire()
    server.beforeToken = async () => {
      server.revoke() // the other process has used the refresh token
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), tokens: server.issue() }))
      return { status: 400, body: JSON.stringify({ error: "invalid_grant" }) }
    }
    expect(await echo()).toBe("echo: hi")
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it("shows the start of what the server answers, without escape codes", async () => {
    const server = await oauthServer()
    const { hub, root } = await open(server.url)
    server.beforeToken = async () => ({ status: 500, body: `\u001b[2J${"<p>".repeat(100_000)}` })
    const failure = await hub().signIn!({ visit: endOf }).catch((error: Error) => error.message)
    expect(failure).toMatch(/^The sign-in did not work: .*Nothing was kept\.$/)
    expect(failure).not.toContain("\u001b")
    expect(failure!.length).toBeLessThan(500)
    expect(readdirSync(root)).not.toContain("sign-ins")
  })

  it("with a key in its headers offers none", async () => {
    const { url, asked } = await oauthServer()
    const { hub } = await open(url, undefined, { Authorization: "Bearer wrong" })
    expect(hub()).toMatchObject({ state: "failed", why: expect.stringContaining("it refuses access (HTTP 401)") })
    expect(hub().signIn).toBeUndefined()
    expect(asked).toEqual(["/mcp"])
  })
})
