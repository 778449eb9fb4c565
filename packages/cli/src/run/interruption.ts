/**
 * Work that a user may interrupt: the first Ctrl-C or SIGTERM does, the second ends the process. Until the work is over, the process stays.
 */

/** As long as this runs, the process does not end, also where all else that is left keeps none alive. It does nothing. */
const KEEP_ALIVE_MS = 2 ** 30
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const // the exit codes shells use for these signals

export interface Interruption {
  readonly signal: AbortSignal
  /** Restores the default handling. The process may end. */
  stop(): void
}

export function interruptible(): Interruption {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(SIGNALS[name as keyof typeof SIGNALS])
    controller.abort()
  }
  const names = Object.keys(SIGNALS) as readonly (keyof typeof SIGNALS)[]
  for (const name of names) process.on(name, onSignal)
  const keeping = setInterval(() => undefined, KEEP_ALIVE_MS)
  return {
    signal: controller.signal,
    stop: () => {
      clearInterval(keeping)
      for (const name of names) process.off(name, onSignal)
    },
  }
}
