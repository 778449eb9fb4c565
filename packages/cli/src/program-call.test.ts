import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { emptyPlace, type Place } from "../test/strata-process.ts"
import { programCall, quotePath } from "./program-call.ts"

const ROOT = join(import.meta.dirname, "..", "..", "..")

let place: Place
beforeEach(() => {
  place = emptyPlace()
})
afterEach(() => place.remove())

/** Makes a directory of an installed package, and the `package.json` of the project that it is installed in. */
function install(path: string, project?: string): string {
  const directory = join(place.cwd, path)
  mkdirSync(directory, { recursive: true })
  if (project !== undefined) writeFileSync(join(place.cwd, project, "package.json"), '{ "name": "something" }')
  return directory
}

describe("the beginning of suggested commands", () => {
  it("is npx --no-install strata in a checkout, also in a script of npm", () => {
    expect(programCall({ cwd: join(ROOT, "docs"), env: {} })).toBe("npx --no-install strata")
    expect(programCall({ cwd: ROOT, env: { INIT_CWD: join(ROOT, "docs") } })).toBe("npx --no-install strata")
    expect(programCall({ cwd: ROOT, env: {} }, join(ROOT, "packages", "cli", "dist"))).toBe("npx --no-install strata")
  })

  it("names the checkout if the user is elsewhere", () => {
    const call = `npm exec --prefix ${quotePath(ROOT)} -- strata`
    expect(programCall({ cwd: place.cwd, env: {} })).toBe(call)
    expect(programCall({ cwd: ROOT, env: { INIT_CWD: place.cwd } })).toBe(call)
  })

  it("is strata in a global installation, whatever the environment says", () => {
    const here = install("prefix/lib/node_modules/strata-agent/dist")
    expect(programCall({ cwd: place.cwd, env: {} }, here)).toBe("strata")
    const env = { npm_command: "exec", npm_lifecycle_event: "npx", INIT_CWD: ROOT }
    expect(programCall({ cwd: ROOT, env }, here)).toBe("strata")
  })

  it.each([
    [".npm/_npx/8fe75298fd60c59f", "node_modules/strata-agent/dist"],
    ["project", "node_modules/strata-agent/dist"],
    ["project", "node_modules/.pnpm/strata-agent@1.0.0/node_modules/strata-agent/dist"],
  ])("is npx strata-agent in %s", (project, path) => {
    expect(programCall({ cwd: place.cwd, env: {} }, install(join(project, path), project))).toBe("npx strata-agent")
  })

  it("quotes a path for a shell", () => {
    expect(quotePath("/home/ada/strata")).toBe("/home/ada/strata")
    expect(quotePath("/home/ada's files")).toBe("'/home/ada'\\''s files'")
  })
})
