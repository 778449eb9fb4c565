/** Commands that run in the real sandbox of this system, as if they had been misjudged. */
import { execFileSync, spawn } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, describe, expect, it, onTestFinished } from "vitest"
import { needs } from "../../../../test/needs.ts"
import { allEnded } from "../../../../test/processes.ts"
import { isWhole } from "../../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../../test/tool-context.ts"
import type { Confinement } from "../../../tools/command.ts"
import { bashTool } from "./bash.ts"
import { quietGit } from "./quiet-git.ts"
import { ShellSession } from "./shell-session.ts"

const sessions: ShellSession[] = []
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()))
})

function world(mode: Confinement["sandbox"] = "unasked") {
  const top = scratchDirectory()
  const [project, home, root] = [join(top, "project"), join(top, "home"), join(top, "home", ".strata")]
  for (const directory of [project, join(home, ".ssh"), join(root, "projects/p/tool-results")])
    mkdirSync(directory, { recursive: true })
  writeFileSync(join(project, "file.txt"), "in the project\n")
  writeFileSync(join(home, ".ssh/id"), "a key\n")
  writeFileSync(join(home, ".npmrc"), "//registry.example/:_authToken=x\n")
  writeFileSync(join(root, "settings.json"), "{}\n")
  writeFileSync(join(root, "projects/p/tool-results/one.txt"), "put aside\n")
  const env = { PATH: process.env.PATH, HOME: home, GITHUB_TOKEN: "x", MY_SETTING: "mine", LANG: "C.UTF-8" }
  const readable = [join(root, "projects/p/tool-results")]
  const confinement = () => ({ sandbox: mode, root, readable })
  const session = new ShellSession({ graceMs: 20 })
  sessions.push(session)
  const bash = bashTool(session)
  const run = async (command: string, { unasked = true, at = project } = {}) => {
    const context = testContext({ at, env, confinement, ...(unasked ? { unapproved: true } : {}) })
    return textIn(await call(bash, { command }, context))
  }
  return { top, project, home, root, run, env }
}

describe("a command that no one allowed, in the sandbox", needs("sandbox"), () => {
  it("PERM-8 writes nothing: not the project, not the home directory, not /tmp outside; one that was allowed does", async () => {
    const { project, home, top, run } = world()
    const canary = join(tmpdir(), `strata-canary-${process.pid}`)
    const files = [join(project, "made"), join(home, "made"), join(top, "made"), canary, "/var/tmp/strata-canary"]
    for (const file of files) await run(`echo x > ${file}; rm -f ${join(project, "file.txt")}; chmod 777 ${project}`)
    expect(files.filter(existsSync)).toEqual([])
    expect(await run("touch made")).toMatch(/^Exit code 1\n.*Read-only file system\nIt ran in a sandbox, read-only/)
    expect(readFileSync(join(project, "file.txt"), "utf8")).toBe("in the project\n")
    expect(await run("echo x > /tmp/scratch && cat /tmp/scratch $TMPDIR/scratch; cat file.txt")).toBe(
      "x\nx\nin the project",
    )
    await run("echo x > made; echo x > ../home/made", { unasked: false })
    expect([join(project, "made"), join(home, "made")].filter(existsSync)).toHaveLength(2)
  })

  it("PERM-8 reaches no listener, on the loopback or on a socket; one that was allowed does", async () => {
    const { run } = world()
    let reached = 0
    const server = createServer((socket) => {
      reached++
      socket.end()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const connect = `(exec 9<>/dev/tcp/127.0.0.1/${port}) 2>&1 && echo open`
    expect(await run(connect)).not.toContain("open")
    expect(reached).toBe(0)
    expect(await run(connect, { unasked: false })).toBe("open")
  })

  it("PERM-8 has no variable but what it needs, and sees no other process", async () => {
    const { run } = world()
    const shown = await run("env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'")
    expect(shown).toMatch(/^PATH=\//m)
    expect(shown).not.toMatch(/^(?:MY_SETTING|GITHUB_TOKEN|npm_\w+|VITEST\w*)=/m)
    expect(Number(await run("ls -d /proc/[0-9]* | wc -l"))).toBeLessThan(6)
  })

  it("PERM-8 sees neither Strata's home nor keys of the person, but what may be read inside", async () => {
    const { home, root, run } = world()
    symlinkSync(join(home, ".ssh"), join(home, "link"))
    expect(await run(`ls -A ${root}`)).toBe("projects")
    expect(await run(`cat ${root}/settings.json`)).toContain("No such file")
    expect(await run(`cat ${root}/projects/p/tool-results/one.txt`)).toBe("put aside")
    // files that the analysis does not find are not visible
    expect(
      await run(
        `for name in .ssh/id .npmrc link/id; do cat $(printf '${home}/%s' $name); done; ls -A $(printf '${home}/%s' .ssh)`,
      ),
    ).not.toMatch(/key|auth/)
    expect(await run(`cat ${home}/.ssh/id`)).toBe("a key") // found by the analysis, and allowed by a rule
  })

  it("PERM-9 has only the project of the person's files in view, so a line that deceives the parser shows no other", async () => {
    const { home, run } = world()
    writeFileSync(join(home, "notes.txt"), "private\n")
    writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Ada\n")
    const lines = [
      `a=(1 $(cat ${home}/notes.txt))x; echo "\${a[@]}"`,
      `cat $(printf '%s' ${home}/notes.txt)`,
      `awk 'BEGIN{while((getline l < "${home}/notes.txt")>0) print l}'`,
      `ls -R /home /root /Users /srv 2>/dev/null; cat $(printf /etc/shadow)`,
    ]
    for (const line of lines) expect(await run(line), line).not.toMatch(/private$|root:[*x!]/m)
    expect(await run("git config user.name")).toBe("Ada")
  })

  it("PERM-8 git works in a project that is a part of a repository", async () => {
    const { home, run } = world()
    const top = join(home, "code")
    mkdirSync(join(top, "packages/a"), { recursive: true })
    writeFileSync(join(top, "packages/a/f"), "text\n")
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: top })
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    expect(await run("git status --short; git log --format=%s", { at: join(top, "packages/a") })).toBe("first")
  })

  it.runIf(isWhole)(
    "PERM-8 works where the project is a directory for temporary files, or Strata's home is in the project",
    async () => {
      const { home, top, run } = world()
      expect(await run("cat project/file.txt; echo x > made || echo read-only", { at: top })).toContain("read-only")
      expect(await run("ls -A; ls -A .strata; cat .strata/settings.json", { at: home })).toContain("No such file")
      expect(await run("ls -A ..", { at: join(home, ".strata") })).toContain(".strata")
      const inMemory = realpathSync(mkdtempSync("/dev/shm/strata-tools-"))
      onTestFinished(() => rmSync(inMemory, { recursive: true, force: true }))
      writeFileSync(join(inMemory, "file"), "in memory\n")
      expect(await run("cat file; echo x > made || echo read-only", { at: inMemory })).toMatch(
        /^in memory\n.*\nread-only/,
      )
      expect(await run("echo x > $TMPDIR/y && cat $TMPDIR/y", { at: "/tmp" })).toBe("x")
    },
  )

  it("PERM-8 sees no other project, wherever on the system they are", async () => {
    mkdirSync("node_modules/.cache", { recursive: true })
    const top = realpathSync(mkdtempSync("node_modules/.cache/strata-guarded-"))
    onTestFinished(() => rmSync(top, { recursive: true, force: true }))
    const [mine, other] = [join(top, "mine"), join(top, "other")]
    for (const directory of [mine, other]) mkdirSync(join(directory, ".git"), { recursive: true })
    writeFileSync(join(mine, "file"), "mine\n")
    writeFileSync(join(other, "file"), "other\n")
    const { run } = world()
    expect(await run("cat file; cat $(echo ../other/file)", { at: mine })).toMatch(/mine\n.*No such file/)
  })

  it("PERM-8 shows the repository of a linked worktree to git", async () => {
    const { top, home, run } = world()
    const [main, linked] = [join(home, "main"), join(home, "linked")]
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
        env: quietGit(process.env),
        cwd: top,
      })
    git("init", "-q", main)
    git("-C", main, "commit", "-q", "--allow-empty", "-m", "first")
    git("-C", main, "worktree", "add", "-q", linked)
    writeFileSync(join(main, "file"), "not in the worktree\n")
    expect(await run("git log --format=%s; cat $(echo ../main/file)", { at: linked })).toMatch(
      /^Exit code 1\nfirst\n.*No such file/,
    )
  })

  it("PERM-8 works in a project that is reached through a link in a hidden place", async () => {
    for (const mode of ["unasked", "all"] as const) {
      const { top, project, run } = world(mode)
      symlinkSync(project, join(top, "linked"))
      const options = { at: join(top, "linked"), unasked: mode === "unasked" }
      expect(await run("cat file.txt; pwd -P", options)).toBe(`in the project\n${project}`)
    }
  })

  it("PERM-8 keeps the directory, the exit code and the order of its output", async () => {
    const { project, run } = world()
    mkdirSync(join(project, "a b"))
    const context = testContext({ at: project, unapproved: true })
    const session = new ShellSession({ graceMs: 20 })
    sessions.push(session)
    expect(await call(bashTool(session), { command: "cd 'a b'; echo one; echo two >&2; exit 3" }, context)).toEqual({
      content: "Exit code 3\none\ntwo",
      isError: true,
    })
    expect(context.directory.get()).toBe(join(project, "a b"))
    expect(await run("kill -9 $$")).toMatch(/^Exit code 137/)
    expect(await run("echo $# [$*] $0; (: >&3) 2>/dev/null || echo closed; (: >&4) 2>/dev/null || echo closed")).toBe(
      "0 [] bash\nclosed\nclosed",
    )
  })

  it.runIf(isWhole)(
    "PERM-8 ends with everything it started: at its timeout, and when this process is killed",
    async () => {
      const { project, env } = world()
      const session = new ShellSession({ graceMs: 20, timeoutMs: 300 })
      sessions.push(session)
      const mark = "61.0625" // a unique sleep duration
      const context = testContext({ at: project, env, unapproved: true })
      const result = await call(bashTool(session), { command: `setsid sleep ${mark} & sleep ${mark}` }, context)
      expect(textIn(result)).toContain("Timed out")
      expect(sleeping(mark)).toEqual([])

      const other = "62.0625"
      const program = `import { bashTool } from ${JSON.stringify(join(import.meta.dirname, "bash.ts"))}
      import { ShellSession } from ${JSON.stringify(join(import.meta.dirname, "shell-session.ts"))}
      const place = ${JSON.stringify(project)}
      const context = { env: { PATH: process.env.PATH }, unapproved: true, toolUseId: "x", clock: { now: () => new Date() },
        directory: { get: () => place, set: () => undefined }, progress: () => undefined, signal: new AbortController().signal }
      bashTool(new ShellSession()).execute({ command: "setsid sleep ${other} & sleep ${other}" }, context)`
      const host = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" })
      const pids = await untilSleeping(other, 2)
      host.kill("SIGKILL")
      await allEnded(pids)
      expect(sleeping(other)).toEqual([])
    },
  )
})

describe('the setting sandbox "all"', needs("sandbox"), () => {
  it("PERM-8 a command that was allowed writes the project and nothing else, and has the network", async () => {
    const { project, home, root, run } = world("all")
    const shown = await run(`echo x > made; echo x > ${home}/made; ls -A ${root}; cat ${home}/.ssh/id`, {
      unasked: false,
    })
    expect(existsSync(join(project, "made"))).toBe(true)
    expect(shown).toMatch(/^projects$/m)
    expect(shown).toMatch(/^a key$/m)
    await run("echo x > unasked")
    expect(existsSync(join(project, "unasked"))).toBe(false)
  })
})

describe("without a sandbox", () => {
  it("PERM-8 a command that no one allowed still has a short environment and a PATH of its own", async () => {
    const { project, run, env } = world("off")
    mkdirSync(join(project, "bin"))
    writeFileSync(join(project, "bin/env"), "#!/bin/sh\necho not this one\n", { mode: 0o755 })
    env.PATH = `${join(project, "bin")}:.:${env.PATH}`
    expect(await run("env", { unasked: false })).toBe("not this one")
    const shown = await run("env")
    expect(shown).not.toMatch(/^(?:MY_SETTING|GITHUB_TOKEN)=/m)
    expect(shown).toMatch(/^GIT_CONFIG_COUNT=\d+$/m)
    expect(shown).toMatch(/^PATH=\/(?!.*project\/bin)/m)
  })
})

/** Finds sleeping processes from outside by their command line, because they have other ids inside. */
const sleeping = (time: string): readonly number[] =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${time}\0` ? [Number(name)] : []
    } catch {
      return [] // the process has ended
    }
  })

async function untilSleeping(time: string, count: number): Promise<readonly number[]> {
  for (;;) {
    const pids = sleeping(time)
    if (pids.length >= count) return pids
    await wait(2)
  }
}
