import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, describe, expect, it, vi } from "vitest"
import { needs } from "../../../../test/needs.ts"
import { isWhole } from "../../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../../test/tool-context.ts"
import { isReadOnly } from "../../../tools/defaults.ts"
import { bashOutputTool, killShellTool } from "./background-shells.ts"
import { bashTool } from "./bash.ts"
import { type ShellOptions, ShellSession } from "./shell-session.ts"

const sessions: ShellSession[] = []
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(sessions.splice(0).map((session) => session.close()))
})

function shell(options: ShellOptions = {}) {
  const session = new ShellSession({ graceMs: 20, ...options })
  sessions.push(session)
  return { session, bash: bashTool(session), output: bashOutputTool(session), kill: killShellTool(session) }
}

function isRunning(pid: number): boolean {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]
    return !state?.startsWith("Z")
  } catch {
    return false
  }
}

/** Waits until a command under test has written this many process ids. */
async function pidsIn(file: string, count: number): Promise<number[]> {
  for (;;) {
    try {
      const pids = readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number)
      if (pids.length >= count) return pids
    } catch {
      // not written yet
    }
    await wait(2)
  }
}

describe("Bash", () => {
  it("returns what a command prints, standard output and error in order", async () => {
    const { bash } = shell()
    const result = await call(bash, { command: "echo one; echo two >&2; echo three" })
    expect(result).toEqual({ content: "one\ntwo\nthree" })
  })

  it("LOOP-3: a failing command is an error result with its exit code, and its output", async () => {
    const { bash } = shell()
    expect(await call(bash, { command: "echo oops >&2; exit 3" })).toEqual({
      content: "Exit code 3\noops",
      isError: true,
    })
    expect(await call(bash, { command: "kill -9 $$" })).toEqual({ content: "Exit code 137 (SIGKILL)", isError: true })
    expect(textIn(await call(bash, { command: "true" }))).toBe("(no output)")
  })

  it("keeps a syntax error inside the command and counts its lines as the command does", async () => {
    const { bash } = shell()
    const unbalanced = await call(bash, { command: 'echo "open' })
    expect(unbalanced.isError).toBe(true)
    expect(textIn(await call(bash, { command: "echo a\nno-such-program" }))).toContain("line 2: no-such-program")
  })

  it("shows a command nothing of how it is run", async () => {
    const { bash } = shell()
    expect(textIn(await call(bash, { command: 'echo "$# [$*] $0"; (: >&3) 2>/dev/null || echo closed' }))).toBe(
      "0 [] bash\nclosed",
    )
  })

  it("keeps the working directory between calls, also when the command exits by itself", async () => {
    const { bash } = shell()
    const context = testContext()
    const start = context.directory.get()
    await call(bash, { command: "mkdir -p 'a b/c' && cd 'a b'" }, context)
    expect(context.directory.get()).toBe(join(start, "a b"))
    await call(bash, { command: "cd c; exit 1" }, context)
    expect(textIn(await call(bash, { command: "pwd" }, context))).toBe(join(start, "a b/c"))
    await call(bash, { command: "(cd /)" }, context)
    expect(context.directory.get()).toBe(join(start, "a b/c"))
  })

  it("stays where it was when a command ends in a directory that it deleted", async () => {
    const { bash } = shell()
    const context = testContext()
    const start = context.directory.get()
    const result = await call(bash, { command: "mkdir gone && cd gone && rmdir ../gone && echo ok" }, context)
    expect(result).toEqual({ content: "ok" })
    expect(context.directory.get()).toBe(start)
  })

  it("leaves a working directory that is gone, and says so before and after", async () => {
    const { bash } = shell()
    const context = testContext()
    const start = context.directory.get()
    mkdirSync(join(start, "a/b"), { recursive: true })
    context.directory.set(join(start, "a/b"))
    rmSync(join(start, "a"), { recursive: true })
    const refused = await call(bash, { command: "touch made" }, context)
    expect(refused.isError).toBe(true)
    expect(textIn(refused)).toContain(`It is ${start} now`)
    expect(readdirSync(start)).toEqual([])
    mkdirSync(join(start, "a"))
    context.directory.set(join(start, "a"))
    expect(textIn(await call(bash, { command: "rmdir $PWD" }, context))).toContain(`it is ${start} now`)
  })

  it("hides keys and tokens from commands, and shows what is asked for", async () => {
    const secrets = {
      ANTHROPIC_API_KEY: "s1",
      ANTHROPIC_BASE_URL: "s2",
      OPENAI_API_KEY: "s3",
      GITHUB_TOKEN: "s4",
      DB_PASSWORD: "s5",
    }
    const env = { ...secrets, PATH: process.env.PATH, TOKENIZER: "shown" }
    const hidden = textIn(await call(shell().bash, { command: "env" }, testContext({ env })))
    expect(hidden).not.toMatch(/=s\d/)
    expect(hidden).toContain("TOKENIZER=shown")
    const kept = textIn(await call(shell({ keep: ["GITHUB_TOKEN"] }).bash, { command: "env" }, testContext({ env })))
    expect(kept).toContain("GITHUB_TOKEN=s4")
    expect(kept).not.toContain("s1")
  })

  it("gives programs no input and no terminal to wait at", async () => {
    const { bash } = shell()
    expect(textIn(await call(bash, { command: "cat; read -r line || echo 'no input'" }))).toBe("no input")
    expect(textIn(await call(bash, { command: "(: </dev/tty) 2>/dev/null || echo 'no terminal'" }))).toBe("no terminal")
    expect((await call(bash, { command: '"$EDITOR" file' })).isError).toBe(true)
  })

  it("makes binary output safe: NUL, escapes and invalid UTF-8", async () => {
    const { bash } = shell()
    const { content } = await call(bash, { command: "printf 'a\\0b \\033[31mred\\033[0m \\xff\\xfe \\xe2\\x82\\xac'" })
    expect(content).toBe("a␀b red �� €")
  })

  it("shows progress while it runs", async () => {
    const context = testContext()
    await call(shell().bash, { command: "echo compiling" }, context)
    expect(context.shown).toEqual(["compiling"])
  })

  it("reports a shell that cannot be started", async () => {
    const result = await call(shell({ shell: "/no/such/shell" }).bash, { command: "ls" })
    expect(result).toEqual({ content: "The command could not be started (ENOENT).", isError: true })
  })

  it("PERM-4 judges a line as the shell that runs it reads it", async () => {
    const context = testContext()
    const kindIn = async (program: string, command: string) =>
      (await shell({ shell: program }).bash.question!({ command }, context))?.kind
    expect(await kindIn("/bin/sh", "[[ a > b ]] || ls")).toBe("execute")
    expect(await kindIn("/bin/sh", "ls | head -5")).toBe("read")
    expect(isReadOnly(shell({ shell: "/bin/sh" }).bash, { command: "[[ a || ./run ]]" })).toBe(false)
  })

  it("PERM-2: asks with the command line, and for one that only reads with the files it names, symlinks followed", async () => {
    const { bash } = shell()
    const at = scratchDirectory()
    writeFileSync(join(at, "secret"), "")
    symlinkSync(join(at, "secret"), join(at, "harmless"))
    const context = testContext({ at })
    const line = { redirections: { reads: [], writes: [] }, unknown: [], unusual: [] }
    const plain = { names: [], changesEnvironment: false }
    const removed = { reads: [], writes: [{ path: join(at, "build"), isTree: true }] }
    expect(await bash.question!({ command: "rm -rf build" }, context)).toEqual({
      kind: "execute",
      summary: "rm -rf build",
      subject: "rm -rf build",
      paths: [join(at, "build")],
      command: {
        ...line,
        line: "rm -rf build",
        commands: [{ ...plain, words: ["rm", "-rf", "build"], isReadOnly: false, uses: removed }],
        isExact: true,
        isReadOnly: false,
        isConfined: false,
      },
    })
    const shown = { reads: [{ path: join(at, "secret") }], writes: [] }
    expect(await bash.question!({ command: "cat ./harmless" }, context)).toEqual({
      kind: "read",
      summary: "cat ./harmless",
      subject: "cat ./harmless",
      paths: [join(at, "secret")],
      command: {
        ...line,
        line: "cat ./harmless",
        commands: [{ ...plain, words: ["cat", "./harmless"], isReadOnly: true, uses: shown }],
        isExact: true,
        isReadOnly: true,
        isConfined: false,
      },
    })
    expect(isReadOnly(bash, { command: "cat harmless" })).toBe(true)
    expect(isReadOnly(bash, { command: "cat harmless", run_in_background: true })).toBe(false)
  })
})

describe("Bash: output limits", () => {
  it.runIf(isWhole)(
    "LOOP-3: 10 MB of output are bounded, in the result and in memory, and kept whole in a file",
    async () => {
      const directory = scratchDirectory()
      const { bash } = shell({ outputDirectory: directory })
      const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
      const result = textIn(await call(bash, { command: "seq -f 'line %.0f' 1 800000" }))
      const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before
      expect(result.length).toBeLessThan(30_500)
      expect(result).toMatch(/^line 1\nline 2\n/)
      expect(result).toMatch(/line 799999\nline 800000$/)
      const [, omitted, file] = /… ([\d,]+) characters left out here; the whole output is in (\S+) …/.exec(result)!
      expect(Number(omitted!.replaceAll(",", ""))).toBeGreaterThan(9_000_000)
      expect(readFileSync(file!, "utf8")).toBe(Array.from({ length: 800_000 }, (_, i) => `line ${i + 1}\n`).join(""))
      expect(grown).toBeLessThan(64 * 1024 * 1024)
    },
  )

  it.runIf(isWhole)(
    "L1-1 returns a long output whole where large results are put aside, up to a million characters",
    async () => {
      const long = "seq -f 'line %.0f' 1 20000"
      const whole = Array.from({ length: 20_000 }, (_, i) => `line ${i + 1}`).join("\n")
      const { bash } = shell()
      expect(textIn(await call(bash, { command: long }, testContext({ offloadsResults: () => true })))).toBe(whole)
      expect(
        textIn(await call(bash, { command: long }, testContext({ offloadsResults: () => false }))).length,
      ).toBeLessThan(30_500)
      const endless = textIn(
        await call(bash, { command: "yes | head -c 3000000" }, testContext({ offloadsResults: () => true })),
      )
      expect(endless).toContain("[… 2,000,000 characters left out here …]")
    },
  )

  it("cuts one endless line too, without a file where there is no place for one", async () => {
    const result = textIn(await call(shell({ outputCharacters: 100 }).bash, { command: "printf '€%.0s' $(seq 1000)" }))
    expect(result).toMatch(/^€{50}\n\[… 900 characters left out here …\]\n€{50}$/)
  })
})

describe("Bash: nothing outlives it", () => {
  const stubborn = (file: string) =>
    `env LC_ALL=C bash -c 'trap "" TERM; echo $$ >> ${file}; bash -c "trap \\"\\" TERM; echo \\$\\$ >> ${file}; while :; do sleep 60; done" & while :; do sleep 60; done'`

  it("LOOP-3: cannot outlive its timeout, and its children die with it, also those that ignore SIGTERM", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const file = join(scratchDirectory(), "pids")
    const result = call(shell().bash, { command: `echo started; echo $$ >> ${file}; ${stubborn(file)}` })
    const pids = await pidsIn(file, 3)
    vi.advanceTimersByTime(119_999)
    expect(pids.map(isRunning)).toEqual([true, true, true])
    vi.advanceTimersByTime(1)
    vi.useRealTimers()
    expect(await result).toEqual({
      content: "Timed out after 120 s. The command and everything it started were ended.\nstarted",
      isError: true,
    })
    expect(pids.map(isRunning)).toEqual([false, false, false])
  })

  it("takes the timeout of the call, but not more than there may be", async () => {
    const text = textIn(await call(shell({ maxTimeoutMs: 10 }).bash, { command: "sleep 60", timeout: 900_000 }))
    expect(text).toMatch(/^Timed out after 0\.01 s\./)
  })

  it("LOOP-3: an abort in the middle ends the command and its children, and keeps what was printed", async () => {
    const file = join(scratchDirectory(), "pids")
    const abort = new AbortController()
    const result = call(
      shell().bash,
      { command: `echo half; ${stubborn(file)}` },
      testContext({ signal: abort.signal }),
    )
    const pids = await pidsIn(file, 2)
    abort.abort()
    expect(await result).toEqual({
      content: "Interrupted. The command and everything it started were ended.\nhalf",
      isError: true,
    })
    expect(pids.map(isRunning)).toEqual([false, false])
    expect(textIn(await call(shell().bash, { command: "touch x" }, testContext({ signal: abort.signal })))).toContain(
      "before",
    )
  })

  it("finds children that left the group", needs("linux"), async () => {
    const file = join(scratchDirectory(), "pids")
    const abort = new AbortController()
    const command = `setsid bash -c 'echo $$ >> ${file}; sleep 60' & sleep 60`
    const result = call(shell().bash, { command }, testContext({ signal: abort.signal }))
    const [pid] = await pidsIn(file, 1)
    abort.abort()
    await result
    await vi.waitFor(() => expect(isRunning(pid!)).toBe(false)) // a killed process ends when it is next scheduled
  })

  it("dies with the program, also when that is killed", async () => {
    const file = join(scratchDirectory(), "pids")
    const from = (name: string) => JSON.stringify(join(import.meta.dirname, name))
    const program = `import { BoundedOutput } from ${from("bounded-output.ts")}
      import { ShellProcess } from ${from("shell-process.ts")}
      const command = "echo $$ >> ${file}; sleep 60 & echo $! >> ${file}; wait"
      new ShellProcess({ command, directory: "/", env: process.env, output: new BoundedOutput({ characters: 100 }) })`
    const host = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" })
    const pids = await pidsIn(file, 2)
    host.kill("SIGKILL")
    while (pids.some(isRunning)) await wait(2)
  })

  it("ends what a command leaves running with &, and does not wait for it", async () => {
    const result = textIn(await call(shell().bash, { command: "sleep 60 & echo $!" }))
    expect(isRunning(Number(result))).toBe(false)
  })

  it("does not wait for a daemon that holds the output open", async () => {
    const file = join(scratchDirectory(), "pids")
    const command = `setsid sh -c 'echo $$ > ${file}; exec sleep 60' & until [ -s ${file} ]; do sleep 0.01; done`
    await call(shell().bash, { command })
    const [pid] = await pidsIn(file, 1)
    expect(isRunning(pid!)).toBe(true)
    process.kill(pid!, "SIGKILL")
  })
})

describe("Bash in the background", () => {
  it("returns at once, and its output is read in pieces", async () => {
    const { bash, output } = shell()
    const context = testContext()
    const fifo = join(context.directory.get(), "go")
    execFileSync("mkfifo", [fifo])
    const command = `echo first; read -r word < go; echo "$word"; exit 2`
    expect(textIn(await call(bash, { command, run_in_background: true }, context))).toContain("as shell_1")
    const read = async (until: string): Promise<string> => {
      for (let all = ""; ; await wait(2)) {
        all += textIn(await call(output, { id: "shell_1" }, context))
        if (all.includes(until)) return all
      }
    }
    expect(await read("first")).toMatch(/^(?:Still running\.\n\(no new output\))*Still running\.\nfirst$/)
    writeFileSync(fifo, "second\n")
    const rest = await read("Exit code 2")
    expect(rest).toContain("second")
    expect(rest).not.toContain("first")
    expect(textIn(await call(output, { id: "shell_1" }, context))).toBe("Exit code 2\n(no new output)")
  })

  it("KillShell ends one and its children; what it printed can still be read", async () => {
    const { bash, output, kill } = shell()
    const file = join(scratchDirectory(), "pids")
    await call(bash, { command: `echo up; sleep 60 & echo $! > ${file}; wait`, run_in_background: true })
    const [pid] = await pidsIn(file, 1)
    expect(textIn(await call(kill, { id: "shell_1" }))).toBe("shell_1 was ended.")
    expect(isRunning(pid!)).toBe(false)
    expect(textIn(await call(output, { id: "shell_1" }))).toBe(
      "Killed. The command and everything it started were ended.\nup",
    )
    expect(textIn(await call(kill, { id: "shell_1" }))).toContain("shell_1 was ended")
  })

  it("does not move the working directory, and an id that is unknown gets the known ones", async () => {
    const { bash, output } = shell()
    const context = testContext()
    const start = context.directory.get()
    expect(textIn(await call(output, { id: "shell_9" }))).toContain("None has been started")
    await call(bash, { command: "cd /", run_in_background: true }, context)
    await call(bash, { command: "true" }, context)
    expect(context.directory.get()).toBe(start)
    expect(await call(output, { id: "shell_9" })).toEqual({
      content: "There is no background command shell_9. There are: shell_1.",
      isError: true,
    })
  })

  it.runIf(isWhole)("background commands die with the conversation, and none starts after it", async () => {
    const { session, bash } = shell()
    const file = join(scratchDirectory(), "pids")
    await call(bash, { command: stubbornSleep(file), run_in_background: true })
    const [pid] = await pidsIn(file, 1)
    await session.close()
    expect(isRunning(pid!)).toBe(false)
    await expect(call(bash, { command: "ls" })).rejects.toThrow("closed")
  })
})

const stubbornSleep = (file: string) => `trap '' TERM; echo $$ > ${file}; while :; do sleep 60; done`
