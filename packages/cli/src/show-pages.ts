/** Shows pages in the user's browser until Ctrl-C. */
import { once } from "node:events"
import type { PageSource } from "@strata/page/server"
import { type CommandCall, UsageError } from "./command.ts"
import { hasBrowser, openInBrowser } from "./open-browser.ts"

export interface ShowPagesOptions extends Pick<CommandCall, "terminal" | "env"> {
  readonly source: PageSource
  /** Id of the conversation to open first. */
  readonly id?: string | undefined
  readonly port?: number | undefined
  /** Whether to print the address without opening a browser. */
  readonly isQuiet: boolean
}

export async function showPages({ source, terminal, env, id, port, isQuiet }: ShowPagesOptions): Promise<number> {
  const { startPage } = await import("@strata/page/server")
  const page = await startPage({ source, ...(port === undefined ? {} : { port }) }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error
    throw new UsageError(`Port ${port} is in use. Leave out --port for a free one.`)
  })
  const address = id === undefined ? page.address : page.addressOf(id)
  const isOpen = !isQuiet && hasBrowser(env) && (await openInBrowser(page.addressOnce(id)))
  // before the address is printed, because a signal may follow at once
  const ended = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), once(process, "SIGHUP")])
  terminal.print(`${isOpen ? "The page is open in your browser. Its address:" : "Open this address in a browser:"}

  ${address}

It works on this machine only, and only with this key. Nothing leaves the machine. Ctrl-C ends it.
`)
  await ended
  await page.close()
  return 0
}
