"""Judge program text of languages other than Python by the names it uses.

Strings, patterns and comments are removed, and every name left must be known to only compute or
print; otherwise the policy asks. A second, short list of dangerous names is searched in the whole
text, in case the removal went wrong.
"""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import known
from siding.policy.names import names

if TYPE_CHECKING:
    from siding.policy.examiner import Examiner

# For each family of languages: names that only compute or print.
_SAFE_WORDS = {
    "node": """console log error warn info table dir JSON parse stringify Math process version
        versions platform arch exit argv length map filter reduce join split slice keys
        values entries Object Array String Number Boolean Date now toISOString toString
        toFixed parseInt parseFloat isNaN for of in let const var if else return function
        new typeof null undefined true false async await Promise all resolve then catch
        require package json assert deepEqual deepStrictEqual equal ok strictEqual RegExp
        test match replace trim push sort concat includes indexOf startsWith endsWith
        padStart padEnd repeat toLowerCase toUpperCase forEach some every find flat fill
        from name main scripts dependencies devDependencies hrtime memoryUsage uptime cwd
        path fs readFileSync utf8 existsSync readdirSync statSync size basename dirname
        extname resolve url URL import default export class this static get set while do
        switch case break continue throw try finally Error message stack stdout write Symbol
        Map Set BigInt Infinity NaN isArray assign freeze semver console util inspect os
        cpus EOL Buffer crypto randomUUID performance""",
    "perl": """print printf say if unless and or not next last chomp chop split join my our use
        strict warnings s m y tr qr x g i lc uc ucfirst length substr index sprintf sort
        reverse keys values map grep scalar push pop shift foreach for while until else
        elsif return sub defined exists delete eq ne lt gt le ge cmp q qq qw wantarray die
        warn undef abs int sqrt hex oct ord chr pos ARGV STDIN STDERR STDOUT BEGIN
        END F a b n p local version utf8 List Util sum max min first uniq POSIX strftime
        floor ceil localtime gmtime time exit""",
    "ruby": """puts p print pp require json set date time yaml JSON parse generate pretty_generate
        each do end if else elsif unless while until def return nil true false map select
        reject reduce inject sum max min sort sort_by join split gsub sub upcase downcase
        strip chomp size length to_s to_i to_f to_a inspect first last RUBY_VERSION
        RUBY_PLATFORM times upto step in then case when format printf ARGV ARGF STDIN gets
        lines each_line each_with_index freeze x i n s a b k v line Hash Array String
        Integer Float Time Date now today strftime new keys values merge dig key""",
    "php": """echo print printf sprintf var_dump print_r json_encode json_decode PHP_VERSION
        PHP_EOL PHP_OS phpversion strlen strtoupper strtolower str_replace implode explode
        count array array_map array_filter array_keys array_values in_array sort range
        foreach as if else return function fn true false null round floor ceil max min abs
        intval floatval strval number_format date time extension_loaded
        get_loaded_extensions ini_get php_sapi_name trim substr strpos sum""",
    "lua": """print string format rep sub len upper lower gsub gmatch find math floor ceil max min
        sqrt table concat insert sort unpack ipairs pairs for in do end if then else elseif
        local function return nil true false and or not _VERSION tostring tonumber type""",
    "R": """cat print paste paste0 sum mean median sd var seq c length R version string
        sessionInfo packageVersion sqrt round max min sort rev summary data frame
        head TRUE FALSE NULL function if else for in return is na names str nchar sprintf
        format Sys time date""",
    "awk": """BEGIN END NR NF FNR FILENAME FS OFS RS ORS print printf if else for while do in next
        exit length substr index split sub gsub gensub match sprintf tolower toupper int
        sqrt exp log sin cos rand srand delete function return break continue getline_
        SUBSEP RSTART RLENGTH ARGC ARGV n s a b c i j k x y z p q t v f line sum count total
        max min avg seen key val name prev nextfile strftime systime asort asorti PROCINFO
        tolower""",
}
_SAFE = {family: frozenset(words.split()) for family, words in _SAFE_WORDS.items()}

_STRINGS = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*|#[^\n]*", re.DOTALL)
_IDENTIFIERS = re.compile(r"[A-Za-z_]\w*")

_IDENTIFIERS = re.compile(r"(\.)?\b([A-Za-z_]\w*)")

_NEVER = {
    "node": re.compile(
        r"child_process|\b(?:exec|spawn|fork|eval|Function|constructor|mainModule|binding|dlopen"
        r"|fetch|WebSocket|execPath|kill|chdir|env)\b|(?:exec|spawn|rm|rmdir|unlink|rename|chmod|chown"
        r"|write|append|copy|cp|link|truncate|mkdir|mkdtemp|open|utimes)\w*Sync|writeFile|appendFile"
        r"|create(?:Write|Read)Stream|promises|\.open\b|\.rm\b|\.unlink\b|\bnet\b|\bhttps?\b(?!:)"
    ),
    "perl": re.compile(
        r"\b(?:system|exec|qx|open|opendir|unlink|rmdir|rename|fork|kill|syscall|eval|require|do|chmod"
        r"|chown|link|symlink|truncate|utime|mkdir|socket|connect|pipe|sysopen|dbmopen|glob|chdir)\b"
        r"|ENV\b|\(\?\??\{|[&@$]\{|&\$|->\s*\(|\bmain::|CORE::"
    ),
    "ruby": re.compile(
        r"\b(?:system|exec|spawn|fork|popen\w*|eval|instance_eval|class_eval|send|public_send|__send__"
        r"|method|const_get|File|FileUtils|Dir|IO|Kernel|Process|Open3|ENV|load|open|trap|ObjectSpace"
        r"|Socket|Net|URI|Fiddle|unlink|delete|rm_rf|binding)\b|%x|`|#\{|syscall"
    ),
    "php": re.compile(
        r"\b(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_\w+|eval|assert|include\w*"
        r"|require\w*|unlink|rmdir|rename|copy|f(?:open|write|puts)|file\w*|chmod|chown|mail|curl_\w+"
        r"|fsockopen|stream_\w+|call_user_func\w*|create_function|getenv|putenv|symlink|link|mkdir"
        r"|touch|glob|readfile|preg_replace|dl|ini_set|extract|parse_str|new)\b|`|\$\$|\{\$|\$\{|\$\w+\("
    ),
    "lua": re.compile(
        r"\b(?:os|io|require|load\w*|dofile|debug|package|ffi|_G|_ENV|rawset"
        r"|setfenv)\b"
    ),
    "R": re.compile(
        r"\b(?:system\w*|shell|unlink|file\w*|eval|parse|source|writeLines|write|readLines|setwd|do\.call"
        r"|Sys\.(?:setenv|getenv|chmod)|download\w*|url|socket\w*|pipe|sink|save|load|dyn|get)\b"
    ),
}


def judge_text(examiner: "Examiner", family: str, text: str) -> None:
    """Judge program text of one family of languages."""
    if not known(text):
        examiner.found("code-from-input", text)
        return
    reading_text(examiner, text, text.count("require") + text.count("import"))
    if family == "perl":
        text = _without_substitutions(text)
    never = _NEVER[family].search(_without_messages(text, family))
    if never:
        examiner.found("code-unclear", never.group())
        return
    bare = without_strings(text, family)
    if bare is None or (family == "node" and _computed_access(bare)):
        examiner.found("code-unclear", text[:80])
        return
    if family == "node":
        _required(examiner, text)
    name = _unknown_name(bare, family)
    if name:
        examiner.found("code-unclear", name)


def reading_text(examiner: "Examiner", text: str, places: int = 0) -> None:
    """Count the work of searching program text.

    `places` is how often a pattern starts to match and scans on to the end of the text. A run of
    64 or more letters is scanned from each of its letters.
    """
    run = max(map(len, re.findall(r"\w{64,}", text)), default=0)
    looks = places * len(text) // 100 + run * run // 200
    examiner.budget.spend(5 + len(text) // 2 + looks, "reading program text")


# ``s/a/b/g`` with patterns that hold no code and no flag that runs the replacement.
_SUBSTITUTES = re.compile(
    r"(?:^|(?<=[;{]))\s*s(?P<m>[/|#!,])(?P<of>(?:(?!(?P=m))[^\\\n]|\\.)*)(?P=m)"
    r"(?P<by>(?:(?!(?P=m))[^\\\n]|\\.)*)(?P=m)[gimsxo]*\s*(?=;|\}|$)"
)


def _without_substitutions(text: str) -> str:
    """Return program text of perl without the substitutions that only change text."""

    def one(found: re.Match[str]) -> str:
        inside = found["of"] + found["by"]
        return found.group() if re.search(r"\(\?\??\{|[@$&]\{|ENV|\$\(", inside) else ""

    return _SUBSTITUTES.sub(one, text)


_MESSAGE = re.compile(
    r"(?:console\.(?:log|error)\s*\(\s*|print\s*(?:\(\s*)?|puts\s+|echo\s+|say\s+|cat\s*\(\s*)"
    r"('[^'\\$`#]*'|\"[^\"\\$`#@]*\")\s*(?:\)\s*)?(?:;\s*)?$"
)


def _without_messages(text: str, family: str) -> str:
    """Return the text with its string emptied, when all it does is print one string."""
    del family
    message = _MESSAGE.fullmatch(text.strip())
    return text.replace(message.group(1), '""') if message else text


_DECLARED = re.compile(
    r"(?:\b(?:let|const|var|my|local|function|def|fn|sub)\s+|[$@%])([A-Za-z_]\w*)"
)


def _unknown_name(bare: str, family: str) -> str:
    safe = _SAFE[family]
    own = set(_DECLARED.findall(bare))
    own |= set(re.findall(r"(?<![.\w])([A-Za-z_]\w*)\s*(?:=>|=[^=~])", bare))
    own |= set(re.findall(r"[{,]\s*([A-Za-z_]\w*)\s*:", bare)) if family == "node" else set()
    for dot, name in _IDENTIFIERS.findall(bare):
        if name not in safe and len(name) > 1 and (dot or name not in own):
            return str(name)
    return ""


def _computed_access(bare: str) -> bool:
    """Return whether the text has ``x[anything]``: its name is computed and cannot be checked."""
    return bool(re.search(r"[\w\])\"]\s*\[(?!\s*(?:\d+|\w{1,2})\s*\])", bare))


_HARMLESS_MODULES = names("""
    path os util url assert crypto semver fs
""")


def _required(examiner: "Examiner", text: str) -> None:
    for module in re.findall(r"(?:require|import)\b[^'\"`;]*['\"`]([^'\"`]+)", text):
        plain = module.removeprefix("node:")
        if not module.startswith("./") and plain not in _HARMLESS_MODULES:
            examiner.found("code-unclear", f"require({module!r})")


_BEFORE_PATTERN = frozenset("(,=:[!&|?{};~+-*%<>^\n")
_WORDS_BEFORE = re.compile(r"\b(?:return|typeof|case|in|of|and|or|not|if|unless|print|split|when)$")


def without_strings(text: str, family: str) -> str | None:
    """Return program text with strings and patterns emptied and comments removed.

    Returns None when one of them does not end, or a string holds code. A slash starts a pattern
    where the language expects an operand, and divides where it expects an operator.
    """
    kept: list[str] = []
    before = ""  # the end of what is kept, without blanks behind it
    at = 0
    while at < len(text):
        character = text[at]
        end = at + 1
        if character in "'\"" or (character == "`" and family == "node"):
            end = _end_of(text, at, character)
            if end < 0 or (character != "'" and re.search(r"\$\{|#\{", text[at:end])):
                return None
            kept.append('""')
        elif text.startswith(_COMMENTS[family], at):
            at = text.find("\n", at) % (len(text) + 1)
            continue
        elif character == "/" and _expects_operand(before):
            end = _end_of(text, at, "/")
            if end < 0:
                return None
            kept.append('""')
        else:
            kept.append(character)
        if character not in " \t":
            apart = text[at - 1 : at] in (" ", "\t")
            before = f"{before}{' ' if apart else ''}{kept[-1]}"[-12:]
        at = end
    return "".join(kept)


_COMMENTS = {"node": "//", "lua": "--", "php": "//"} | dict.fromkeys(
    ("perl", "ruby", "R", "awk"), "#"
)


def _end_of(text: str, at: int, mark: str) -> int:
    """Return the index after the string or pattern that starts at `at`; -1 if it does not end."""
    index = at + 1
    while index < len(text):
        if text[index] == "\\":
            index += 1
        elif text[index] == mark:
            return index + 1
        index += 1
    return -1


def _expects_operand(before: str) -> bool:
    """Return whether a slash after this text starts a pattern."""
    return not before or before[-1] in _BEFORE_PATTERN or bool(_WORDS_BEFORE.search(before))
