# failures: a status of the library as an exception, and an exception of a callback as a status.

"""
    Failure(code, message, operation, rule, file, line)

What the library refuses or cannot do. `message` is complete: location, primitive, what is wrong with both values, and what
to do. `code` is one of the `RICCI_*` codes; the others are empty or 0 where they are not known.
"""
struct Failure <: Exception
    code::UInt32
    message::String
    operation::String
    rule::String
    file::String
    line::Int
end

"A mistake that this package finds itself."
Failure(message::AbstractString) = Failure(sys.RICCI_INVALID_ARGUMENT, message, "", "", "", 0)

Base.showerror(io::IO, e::Failure) = print(io, "Ricci: ", e.message)

"The text of a ricci_str, copied."
text(s::sys.ricci_str) = s.len == 0 ? "" : unsafe_string(s.ptr, s.len)

const NO_TEXT = sys.ricci_str(C_NULL, 0)

"Throws what a status says and frees it; nothing if all went well."
function check(status::Ptr{sys.ricci_status})
    status == C_NULL && return nothing
    message, operation, rule, file = Ref(NO_TEXT), Ref(NO_TEXT), Ref(NO_TEXT), Ref(NO_TEXT)
    line = Ref(UInt32(0))
    sys.ricci_status_message(status, message)
    sys.ricci_status_site(status, operation, rule, file, line)
    failure = Failure(sys.ricci_status_code(status), text(message[]), text(operation[]), text(rule[]), text(file[]),
                      Int(line[]))
    sys.ricci_status_free(status) # after the texts, which it owns, have been copied
    throw(failure)
end

"A new status, which the library owns from here on."
function status_of(code::Integer, message::String)
    return sys.ricci_status_make(code, message, sizeof(message))
end

# An exception must never pass through frames of C: Julia would unwind over them, and locks and memory of the library
# would be left as they are. So every callback runs its body in here.
"Runs `body`; an exception becomes a status, without an exception the status is OK."
function guarded(body)
    try
        body()
        return Ptr{sys.ricci_status}(C_NULL)
    catch e
        e isa Failure && return status_of(e.code, e.message)
        return status_of(sys.RICCI_INVALID_ARGUMENT, "a callback in Julia failed: " * sprint(showerror, e))
    end
end
