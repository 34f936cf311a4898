// What opencode loads for one run: it reports to the broker of the run, and does as it is answered.
//
// The words are those of `plain_words.py`, and docs/reference/agents.md describes them. SIDING_OPENCODE says
// what is wanted: "judges", "closed" (a command without a verdict does not run), "calls", "holds" (a prompt
// may have to wait for a person).

import net from "node:net"

const SOCKET = process.env.SIDING_SOCKET ?? ""
const WANTED = new Set((process.env.SIDING_OPENCODE ?? "").split(","))
const CHANGES = new Set(["bash", "edit", "write", "patch", "apply_patch", "multiedit"])
const LONGEST_TEXT = 16384 // characters of a field of a large input: a request has a limit
const LONGEST_WHOLE = 262144 // characters of an input that is handed over whole
const PATIENCE_MS = 300_000 // a step of a large workspace takes a while
// Who waited so long waited for a person. The answer is no if the run ends before they give one.
const UNJUDGED =
  "in this run each command and tool is judged first, and Siding did not answer: do not try again"

// Report once; the answer is an object. Without patience it waits as long as the broker takes.
function report(payload, patienceMs = 0) {
  return new Promise((resolve, reject) => {
    const connection = net.connect(SOCKET)
    let said = ""
    let reached = false // then somebody may have been asked
    const gone = (error) => reject(Object.assign(error, { reached }))
    connection.setEncoding("utf8")
    connection.setTimeout(patienceMs, () => connection.destroy(new Error("no answer in time")))
    connection.on("error", gone)
    connection.on("close", () => gone(new Error("the broker went away")))
    connection.on("connect", () => {
      reached = true
      connection.write(JSON.stringify({ do: "report", agent: "opencode", payload }) + "\n")
    })
    connection.on("data", (piece) => {
      said += piece
      if (!said.includes("\n")) return
      try {
        const answer = JSON.parse(said)
        if (answer.ok !== true) throw new Error("the broker has refused")
        resolve(saidIn(answer.result.output))
      } catch (error) {
        reject(error)
      }
      connection.destroy()
    })
  })
}

// Return what an answer says; nonsense is none, and above all no leave to do something.
function saidIn(output) {
  if (typeof output !== "string") throw new Error("the broker's answer is no text")
  const found = JSON.parse(output || "{}")
  if (found === null || typeof found !== "object" || Array.isArray(found))
    throw new Error("the broker's answer is no object")
  return found
}

// `opencode run` puts a word with a blank in it between quotes; return the prompt as it was given.
function asGiven(text) {
  const inner = text.slice(1, -1)
  return text === `"${inner}"` && process.argv.includes(inner) ? inner : text
}

function whole(args) {
  return JSON.stringify(args).length > LONGEST_WHOLE ? short(args) : args
}

// Return the input of a tool without whole files. A command and a patch stay whole.
function short(value, name = "") {
  if (typeof value === "string")
    return name === "command" || name === "patchText" ? value : value.slice(0, LONGEST_TEXT)
  if (Array.isArray(value)) return value.map((each) => short(each))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, short(each, key)]))
}

// Report what needs no answer, in order: the end of a turn after its tools.
let newest = Promise.resolve()
function tell(payload, patienceMs = PATIENCE_MS) {
  newest = newest.then(() => report(payload, patienceMs)).catch(() => ({}))
  return newest
}

export const Siding = async ({ client, directory }) => {
  const created = new Set()
  const parents = new Map() // of each conversation: "" of one that a person has
  const greetings = new Map()
  const running = new Map() // of each conversation: the turn under way

  async function parent(session) {
    if (!parents.has(session)) {
      const found = await client.session.get({ path: { id: session } }).catch(() => undefined)
      parents.set(session, found?.data?.parentID ?? "")
    }
    return parents.get(session)
  }

  async function root(session) {
    let above = await parent(session)
    while (above) {
      session = above
      above = await parent(session)
    }
    return session
  }

  async function happened({ type, properties }) {
    if (type === "session.created") {
      created.add(properties.info.id)
      parents.set(properties.info.id, properties.info.parentID ?? "")
    } else if (type === "session.idle" || type === "session.error") {
      const session = properties.sessionID
      if (!session || (await parent(session))) return
      running.delete(session)
      const failed = type === "session.error" && properties.error?.name !== "MessageAbortedError"
      await tell({ moment: failed ? "failed" : "stopped", session })
    } else if (type === "permission.asked") {
      const text = `permission for ${properties.permission}: ${(properties.patterns ?? []).join(", ")}`
      await tell({ moment: "waits", session: await root(properties.sessionID), text })
    } else if (type === "question.asked") {
      const text = properties.questions?.[0]?.question ?? "a question"
      await tell({ moment: "waits", session: await root(properties.sessionID), text })
    } else if (/^(permission|question)\.(replied|rejected)$/.test(type)) {
      await tell({ moment: "goes-on", session: await root(properties.sessionID) })
    }
  }

  return {
    event: ({ event }) => happened(event).catch(() => {}),

    "chat.message": async ({ sessionID: session }, { message, parts }) => {
      if (await parent(session)) return // of a helper that opencode itself has started
      if (!greetings.has(session)) {
        const told = await tell({ moment: "session", session, new: created.has(session) })
        greetings.set(session, told.tell ?? "")
      }
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      const text = asGiven(typed.map((part) => part.text).join("\n"))
      // What is typed while a turn runs, the model gets in that turn.
      if (!running.has(session)) running.set(session, message.id)
      const prompt = { moment: "prompt", session, turn: running.get(session), text }
      const { tell: news } = await tell(prompt, WANTED.has("holds") ? 0 : PATIENCE_MS)
      if (!news) return
      const id = `${parts.at(-1)?.id ?? "prt_"}0` // parts are sorted by their ids
      const place = { id, sessionID: session, messageID: message.id }
      parts.push({ ...place, type: "text", synthetic: true, text: news })
    },

    "experimental.chat.system.transform": async ({ sessionID: session }, { system }) => {
      const greeting = greetings.get(session)
      if (greeting) system.push(greeting)
    },

    "tool.execute.before": async ({ tool, sessionID, callID: call }, { args }) => {
      if (!WANTED.has("judges")) return
      const does = { tool, given: whole(args ?? null), cwd: args?.workdir || directory }
      let verdict
      try {
        verdict = await report({ moment: "tool", session: await root(sessionID), call, ...does })
      } catch (error) {
        if (WANTED.has("closed") || error.reached) throw new Error(`${UNJUDGED} (${error.message})`)
        return
      }
      if (verdict.deny) throw new Error(verdict.deny)
    },

    "tool.execute.after": async ({ tool, sessionID, callID: call, args }) => {
      if (!WANTED.has("calls") || !CHANGES.has(tool)) return
      const text = tool === "bash" ? args?.command : `${tool} ${args?.filePath ?? ""}`.trim()
      await tell({ moment: "call", session: await root(sessionID), call, text })
    },
  }
}
