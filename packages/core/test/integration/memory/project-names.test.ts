/** One project has one name, wherever its clones are, including data that earlier versions stored under paths. */
import { execFile, execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, inject, onTestFinished, test } from "vitest"
import { projectName } from "../../../src/base/clock.ts"
import { localUser, namespaceFor, type Owner } from "../../../src/base/owner.ts"
import { projectAt } from "../../../src/base/project.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import {
  type ConversationOptions,
  listConversations,
  memoryStore,
  openConversation,
  openMemoryBank,
  openRecall,
} from "../../../src/index.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { memoryDirectory, projectDirectory } from "../../../src/journal/file/layout.ts"
import { openBank } from "../../../src/memory/bank.ts"
import { isWhole } from "../../size.ts"
import { agentFor } from "../agent/agents.ts"
import { everythingIn, say, stage, textOfRequest } from "./remembering.ts"

const MODEL = "claude-opus-4-6"
const ACME = "git@github.com:acme/shop.git"
const OTHER = "git@github.com:acme/other.git"
const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
const QUIET = { settings: { switches: { "auto-memory": false, dreaming: false } } }
const memory = { owner: localUser } as const

function place() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "strata-names-")))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd, stdio: "ignore" })
  const dir = join(top, "home")
  return {
    ...{ top, dir, git },
    repository(name: string, remote?: string): string {
      const cwd = join(top, name)
      mkdirSync(join(cwd, "src"), { recursive: true })
      git(cwd, "init", "-q")
      git(cwd, "commit", "-q", "--allow-empty", "-m", name)
      if (remote) git(cwd, "remote", "add", "origin", remote)
      return cwd
    },
    bank: (cwd: string, more: Partial<Parameters<typeof openMemoryBank>[0]> = {}) =>
      openMemoryBank({ dir, cwd, env, owner: localUser, ...more }),
    talk: async (options: Partial<ConversationOptions>, ...words: string[]) => {
      await using chat = await openConversation({ model: MODEL, dir, env, ...options })
      for (const word of words) await chat.add(word)
      if (words.length > 0) await chat.prepare()
      return {
        id: chat.id,
        place: engineOf(chat).namespace,
        count: engineOf(chat).views.context.storedMessages().length,
      }
    },
    listed: async (cwd: string, more = {}) =>
      (await listConversations({ dir, cwd, env, owner: localUser, ...more })).map(({ id }) => id).sort(),
  }
}

/** Data of an earlier version: conversations under their directory, memories under the repository's, and notes of other directories. */
async function keptByEarlierVersion(
  dir: string,
  {
    repository,
    directories = [],
    owner = localUser,
  }: { repository: string; directories?: readonly string[]; owner?: Owner },
) {
  const main = namespaceFor(projectName(repository), owner)
  for (const cwd of [repository, ...directories]) {
    const project = namespaceFor(projectName(cwd), owner)
    const journal = await fileStore({ root: dir }).open({ project, id: idOf(cwd) }, { access: "write", create: true })
    const common = { parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z" }
    await journal.append([
      { ...common, type: "strata", subtype: "session", uuid: `s-${idOf(cwd)}`, model: MODEL, cwd } as never,
      {
        ...common,
        type: "user",
        uuid: `u-${idOf(cwd)}`,
        message: { role: "user", content: `The heron port is 7071.` },
      },
    ])
    await journal.close()
    if (cwd === repository) continue
    mkdirSync(join(projectDirectory(dir, main), "directories"), { recursive: true })
    writeFileSync(join(projectDirectory(dir, main), "directories", project), `${cwd}\n`)
  }
  const bank = openBank({ files: fileStore({ root: dir }).memories({ project: main }) })
  await bank.change({
    by: "person",
    why: "Asked for",
    puts: [{ name: "Port", body: `The port of ${idOf(repository)}.` }],
  })
  await bank.change({
    by: "extraction",
    why: "Seen",
    puts: [{ name: "Build", body: "Use make." }],
    source: { saidBy: "agent" },
  })
  return bank
}

/** Texts of persistent files by path. Indexes are excluded because they can be rebuilt. */
const filesBelow = (directory: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.(?:index|sqlite)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, "utf8")]),
  )

const idOf = (cwd: string): string => projectName(cwd).split("-").at(-1)!
const bodies = (memories: readonly { readonly body: string }[]) => memories.map(({ body }) => body.trim()).sort()

test.runIf(isWhole)("BEY-12 two clones at two paths share memory and search, and the user hears it once", async () => {
  for (const remote of [ACME, undefined]) {
    const { top, dir, git, repository } = place()
    const one = repository("one", remote)
    git(top, "clone", "-q", "one", "two")
    const two = join(top, "two")
    if (remote) git(two, "remote", "set-url", "origin", "https://ada:hunter2@github.com/acme/shop")
    const { sim, requests } = await stage({ script: ["The nightly importer crashed on the umlaut.", "Fine."] })
    const open = (cwd: string) => agentFor(sim, { cwd, dir }, QUIET)
    const first = await open(one)
    expect(first.problems).toEqual([])
    await first.remember("Deploy on Tuesdays only.")
    await say(first, "Why did the nightly importer crash?")
    await first.close()
    const second = await open(two)
    const notice = second.problems.filter((problem) => problem.includes("so it shares its memory"))
    expect(notice).toEqual([expect.stringContaining(`known from ${one}`)])
    expect(notice[0]).toContain(remote ? "This is github.com/acme/shop," : "the same first commit")
    await say(second, "What crashed the nightly importer?")
    expect(textOfRequest(requests.at(-1)!)).toContain("A passage of an earlier conversation")
    await say(second, "When do we deploy?")
    expect(textOfRequest(requests.at(-1)!)).toContain("Tuesdays only")
    await second.close()
    for (const cwd of [one, two]) expect((await open(cwd)).problems).toEqual([])
    expect(everythingIn(dir)).not.toContain("hunter2")
  }
})

test("BEY-12 the same path with two projects in turn shares nothing", async () => {
  const { dir, repository, bank, talk, listed } = place()
  const app = repository("app", ACME)
  await keptByEarlierVersion(dir, { repository: app })
  await talk({ cwd: app, id: "mine", memory }, "hello")
  await (await bank(app)).change({ by: "person", why: "Asked", puts: [{ name: "Secret", body: "Acme's." }] })
  rmSync(app, { recursive: true })
  repository("app", OTHER)
  expect(await (await bank(app)).all()).toEqual([])
  expect(await listed(app)).toEqual([])
  expect((await talk({ cwd: app, id: "app", memory })).count).toBe(0)
  expect((await (await bank(app)).search("heron port")).passages).toEqual([])
})

test.runIf(isWhole)(
  "BEY-12 data of an earlier version is found: listed, opened where it is, searched, and its memories are taken over",
  async () => {
    const { top, dir, git, repository, bank, talk, listed } = place()
    const shop = repository("shop", ACME)
    const tree = join(top, "tree")
    git(shop, "worktree", "add", "-q", tree)
    const old = await keptByEarlierVersion(dir, { repository: shop, directories: [join(shop, "src"), tree] })
    const [history, before] = [await old.history(), filesBelow(join(dir, "projects"))]
    expect(await listed(shop)).toEqual(["shop", "src", "tree"])
    // a reader writes nothing, and still sees them
    expect(bodies(await (await bank(shop, { readOnly: true })).all())).toEqual(["The port of shop.", "Use make."])
    expect(readdirSync(join(dir, "projects")).some((name) => name.startsWith("github-com-"))).toBe(false)
    const now = await bank(join(shop, "src"))
    expect(bodies(await now.all())).toEqual(["The port of shop.", "Use make."])
    expect(await now.history()).toEqual(history)
    expect((await now.all()).map(({ source }) => source)).toEqual((await old.all()).map(({ source }) => source))
    expect((await now.search("heron port")).passages.map(({ conversation }) => conversation).sort()).toEqual([
      "shop",
      "src",
      "tree",
    ])
    const moved = join(projectDirectory(dir, projectName(shop)), "memory", "MOVED.txt")
    expect(readFileSync(moved, "utf8")).toContain((await projectAt({ cwd: shop, env })).name)
    for (const [path, text] of before) expect(readFileSync(path, "utf8")).toBe(text)
    // a continued conversation stays in the old namespace, and new data goes to the new one
    const again = await talk({ cwd: shop, id: "tree", memory }, "more")
    expect(again.place).toBe(projectName(tree))
    expect(again.count).toBeGreaterThan(1)
    expect((await talk({ cwd: shop, memory }, "new")).place).toBe((await projectAt({ cwd: shop, env })).name)
    // from now on, edits in the old namespace are ignored
    await old.change({ by: "person", why: "Later", puts: [{ name: "Late", body: "Too late." }] })
    expect(bodies(await (await bank(shop)).all())).toEqual(["The port of shop.", "Use make."])
    // permanent erasure includes the old namespace
    await (await bank(shop)).erase("port.md")
    for (const name of [projectName(shop), (await projectAt({ cwd: shop, env })).name])
      expect(everythingIn(memoryDirectory(dir, name))).not.toContain("The port of shop.")
  },
)

test("BEY-12 L6-7 a dream of an earlier version that waits for consent still does, and its memories count as consolidated", async () => {
  const { dir, repository, bank } = place()
  const cwd = repository("one", ACME)
  await keptByEarlierVersion(dir, { repository: cwd })
  const dreams = (name: string) => join(projectDirectory(dir, namespaceFor(name, localUser)), "dreams")
  const old = dreams(projectName(cwd))
  const texts = { "pending.json": '{"id":"d1","puts":[],"base":[]}\n', "consolidated.json": '{"print":"p"}\n' }
  mkdirSync(old, { recursive: true })
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(old, name), text)
  await bank(cwd)
  const { name } = await projectAt({ cwd, env })
  for (const [file, text] of Object.entries(texts)) expect(readFileSync(join(dreams(name), file), "utf8")).toBe(text)
  rmSync(join(dreams(name), "pending.json")) // already decided
  await bank(cwd)
  expect(existsSync(join(dreams(name), "pending.json"))).toBe(false)
})

test("BEY-12 conversations that were stored under a path are recalled from another clone", async () => {
  const { dir, repository } = place()
  const [one, two] = [repository("one", ACME), repository("two", ACME)]
  await keptByEarlierVersion(dir, { repository: one })
  await openMemoryBank({ dir, cwd: one, env, owner: localUser })
  const where = { dir, cwd: two, env, ...memory }
  const [kept] = await listConversations(where)
  expect(kept).toMatchObject({ id: "one", directory: one })
  await using past = await openRecall(kept!, where)
  expect(await past.recall({ search: "heron port", in: "project" })).toMatchObject({ state: "found" })
})

test.runIf(isWhole)(
  "BEY-12 memories of two places come together: equal ones once, different ones of one name both, with their sources",
  async () => {
    const { dir, repository, bank, listed } = place()
    const [one, two] = [repository("one", ACME), repository("two", ACME)]
    const banks = [
      await keptByEarlierVersion(dir, { repository: one }),
      await keptByEarlierVersion(dir, { repository: two }),
    ]
    for (const cwd of [one, two, one]) await bank(cwd)
    const all = await (await bank(two)).all()
    expect(all.map(({ file, source: { saidBy } }) => [file, saidBy])).toEqual([
      ["build.md", "agent"],
      ["port-2.md", "user"],
      ["port.md", "user"],
    ])
    expect(bodies(all)).toEqual(["The port of one.", "The port of two.", "Use make."])
    expect(await (await bank(one)).problems()).toEqual([])
    for (const old of banks) expect((await old.all()).length).toBe(2)
    expect(await listed(one)).toEqual(["one", "two"])
  },
)

test.runIf(isWhole)("BEY-12 two processes that take over at once do it once", async () => {
  const { dir, repository, bank } = place()
  const [one, two] = [repository("one", ACME), repository("two", ACME)]
  for (const cwd of [one, two]) await keptByEarlierVersion(dir, { repository: cwd })
  const index = join(inject("bundle"), "core", "dist", "index.js")
  const script = `const { openMemoryBank, localUser } = await import(${JSON.stringify(index)})
    const bank = await openMemoryBank({ dir: ${JSON.stringify(dir)}, cwd: process.cwd(), owner: localUser })
    console.log((await bank.all()).length)`
  const run = (cwd: string) =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd, env })
  await Promise.all([one, two, one, two].map(run))
  const shared = await bank(one)
  expect(bodies(await shared.all())).toEqual(["The port of one.", "The port of two.", "Use make."])
  expect((await shared.history()).length).toBe(3) // the two changes of one, and those from the other
  expect(await shared.problems()).toEqual([])
})

test.runIf(isWhole)(
  "BEY-12 a project keeps what it had before it had a remote, and before it had a commit",
  async () => {
    const { top, dir, git, bank, talk, listed } = place()
    const cwd = join(top, "young")
    mkdirSync(cwd)
    const put = async (body: string) =>
      (await bank(cwd)).change({ by: "person", why: "Asked", puts: [{ name: body, body }] })
    await put("outside git")
    await talk({ cwd, id: "a", memory }, "hello")
    git(cwd, "init", "-q")
    git(cwd, "commit", "-q", "--allow-empty", "-m", "first")
    await put("with a commit")
    await talk({ cwd, id: "b", memory }, "hello")
    git(cwd, "remote", "add", "origin", ACME)
    await put("with a remote")
    await talk({ cwd, id: "c", memory }, "hello")
    expect(bodies(await (await bank(cwd)).all())).toEqual(["outside git", "with a commit", "with a remote"])
    expect(await listed(cwd)).toEqual(["a", "b", "c"])
    const places = await Promise.all(["a", "b", "c"].map(async (id) => (await talk({ cwd, id, memory })).place))
    expect(places[0]).toBe(projectName(cwd))
    expect(places[1]).toMatch(/^root-/)
    expect(places[2]).toMatch(/^github-com-acme-shop-/)
    expect(existsSync(join(dir, "projects", `${projectName(cwd)}_unowned`))).toBe(false)
  },
)

test.runIf(isWhole)(
  "BEY-12 what a clone without the remote continues to keep comes with it once it has the remote; what was forgotten stays so",
  async () => {
    const { top, repository, bank, git } = place()
    const first = repository("first")
    git(top, "clone", "-q", first, "second")
    const second = join(top, "second")
    git(second, "remote", "remove", "origin") // the remote was a path
    const put = (name: string) => ({ by: "person" as const, why: "test", puts: [{ name, body: `${name} is known.` }] })
    await (await bank(second)).change(put("Old fact"))
    git(first, "remote", "add", "origin", ACME)
    const named = await bank(first)
    expect((await named.all()).map(({ name }) => name)).toEqual(["Old fact"])
    await named.change({ by: "person", why: "test", removals: ["old-fact.md"] })
    await (await bank(second)).change(put("Later fact"))
    git(second, "remote", "add", "origin", ACME)
    expect((await (await bank(second)).all()).map(({ name }) => name)).toEqual(["Later fact"])
  },
)

test("BEY-12 of two names given for one path, only the first gets what was there, for every owner and for none", async () => {
  const { dir, top, talk, listed } = place()
  const cwd = join(top, "server")
  mkdirSync(cwd)
  for (const owner of ["ada", undefined]) {
    const options = owner === undefined ? {} : { memory: { owner } }
    const id = `of-${owner}`
    const journal = await fileStore({ root: dir }).open(
      { project: namespaceFor(projectName(cwd), owner), id },
      { access: "write", create: true },
    )
    await journal.append([
      {
        type: "user",
        uuid: `u-${id}`,
        parentUuid: null,
        timestamp: "2026-01-01T00:00:00.000Z",
        message: { role: "user", content: "old" },
      },
    ])
    await journal.close()
    expect((await talk({ cwd, project: "first", id, ...options })).count).toBe(1)
    expect((await talk({ cwd, project: "second", id, ...options })).count).toBe(0)
    expect((await talk({ cwd, project: "first", id, ...options })).count).toBe(1)
    expect(await listed(cwd, { owner, project: "first" })).toEqual([id])
    expect(await listed(cwd, { owner, project: "third" })).toEqual([])
  }
})

test("BEY-12 with a store that others share, a bare path is refused, and a name is not", async () => {
  const { top, repository } = place()
  const store = { ...memoryStore(), isShared: true }
  const options = { model: MODEL, store, env, memory }
  const plain = join(top, "app")
  mkdirSync(plain)
  const refusal = /shared.*nothing was opened.*"project".*STRATA_PROJECT.*git remote/s
  await expect(openConversation({ ...options, cwd: plain })).rejects.toThrow(refusal)
  await expect(listConversations({ store, env, cwd: plain })).rejects.toThrow(refusal)
  for (const more of [
    { cwd: plain, project: "shop" },
    { cwd: plain, env: { ...env, STRATA_PROJECT: "shop" } },
    { cwd: repository("named", ACME) },
    { cwd: repository("local") },
  ]) {
    await using chat = await openConversation({ ...options, ...more })
    expect(engineOf(chat).namespace).not.toContain(projectName(top))
  }
})

test("SEC-1 BEY-12 the user's settings name a project, and a repository's own file never does", async () => {
  const { top, dir, talk } = place()
  const cwd = join(top, "plain")
  mkdirSync(join(cwd, ".strata"), { recursive: true })
  mkdirSync(dir)
  const placeNow = async () => (await talk({ cwd, memory })).place
  for (const file of ["settings.json", "settings.local.json"]) {
    writeFileSync(join(cwd, ".strata", file), JSON.stringify({ project: "theirs" }))
    expect(await placeNow()).toBe(projectName(cwd)) // the directory was not trusted
  }
  writeFileSync(join(dir, "settings.json"), JSON.stringify({ project: "mine" }))
  expect(await placeNow()).toBe((await projectAt({ cwd, env, project: "mine" })).name)
  expect(await listConversations({ dir, cwd, env, owner: localUser })).toEqual([])
})
