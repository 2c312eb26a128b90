#include "cli/reserved_names.h"

#include <string>

namespace ricci { inline namespace v0 { namespace cli {
namespace {

// C23 and C++23; `linux` and `unix` are macros of compilers where the language is not a strict one.
constexpr std::string_view kWords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class"
    " co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default"
    " delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int linux "
    "long"
    " mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register"
    " reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch"
    " template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unix unsigned using"
    " virtual void volatile wchar_t while xor xor_eq ";

// Those of floating point exist with an f and an l at the end, too.
constexpr std::string_view kMath =
    " acos acosh asin asinh atan atan2 atanh cabs cacos cacosh canonicalize carg casin casinh catan catanh cbrt ccos"
    " ccosh ceil cexp cimag clog clog10 conj copysign cos cosh cpow cproj creal csin csinh csqrt ctan ctanh drem erf "
    "erfc"
    " exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmaximum fmin fminimum fmod frexp fromfp fromfpx gamma"
    " getpayload hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llogb llrint llround log log10 log1p log2 logb lrint "
    "lround"
    " modf nan nearbyint nextafter nextdown nexttoward nextup pow pow10 remainder remquo rint round roundeven scalb"
    " scalbln scalbn setpayload significand sin sincos sinh sqrt tan tanh tgamma totalorder trunc ufromfp ufromfpx y0 "
    "y1"
    " yn ";

constexpr std::string_view kFunctions =
    " abort abs aligned_alloc alloca asctime at_quick_exit atexit atof atoi atol atoll bsearch btowc c16rtomb c32rtomb"
    " call_once calloc clearerr clock cnd_broadcast cnd_destroy cnd_init cnd_signal cnd_timedwait cnd_wait ctime "
    "difftime"
    " div exit fclose feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feof feraiseexcept ferror fesetenv"
    " fesetexceptflag fesetround fetestexcept feupdateenv fflush fgetc fgetpos fgets fgetwc fgetws fopen fprintf fputc"
    " fputs fputwc fputws fread free freopen fscanf fseek fsetpos ftell fwide fwprintf fwrite fwscanf getc getchar "
    "getenv"
    " gets getwc getwchar gmtime imaxabs imaxdiv isalnum isalpha isblank iscntrl isdigit isgraph islower isprint "
    "ispunct"
    " isspace isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct "
    "iswspace"
    " iswupper iswxdigit isxdigit labs ldiv lgamma_r lgammaf_r lgammal_r llabs lldiv localeconv localtime longjmp main"
    " malloc mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsrtowcs mbstowcs mbtowc memchr memcmp memcpy memmove "
    "memset"
    " mktime mtx_destroy mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock perror printf putc putchar puts putwc"
    " putwchar qsort quick_exit raise rand realloc remove rename rewind scanf setbuf setjmp setlocale setvbuf signal"
    " snprintf sprintf srand sscanf strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncat"
    " strncmp strncpy strndup strpbrk strrchr strspn strstr strtod strtof strtoimax strtok strtol strtold strtoll "
    "strtoul"
    " strtoull strtoumax strxfrm swprintf swscanf system thrd_create thrd_current thrd_detach thrd_equal thrd_exit"
    " thrd_join thrd_sleep thrd_yield time timespec_get tmpfile tmpnam tolower toupper towctrans towlower towupper"
    " tss_create tss_delete tss_get tss_set ungetc ungetwc vfprintf vfscanf vfwprintf vfwscanf vprintf vscanf vsnprintf"
    " vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime"
    " wcslen wcsncat wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol"
    " wcstold wcstoll wcstombs wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctrans wctype wmemchr wmemcmp wmemcpy"
    " wmemmove wmemset wprintf wscanf ";

constexpr std::string_view kTypesAndMacros =
    " BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN CLOCKS_PER_SEC CMPLX CMPLXF CMPLXL DECIMAL_DIG EOF EXIT_FAILURE EXIT_SUCCESS "
    "FILE"
    " FILENAME_MAX FOPEN_MAX HUGE_VAL HUGE_VALF HUGE_VALL I INFINITY INTMAX_C INTMAX_MAX INTMAX_MIN INTPTR_MAX "
    "INTPTR_MIN"
    " INT_MAX INT_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN L_tmpnam MB_CUR_MAX MB_LEN_MAX NAN NULL PTRDIFF_MAX"
    " PTRDIFF_MIN RAND_MAX SCHAR_MAX SCHAR_MIN SEEK_CUR SEEK_END SEEK_SET SHRT_MAX SHRT_MIN SIG_ATOMIC_MAX "
    "SIG_ATOMIC_MIN"
    " SIZE_MAX TIME_UTC TMP_MAX UCHAR_MAX UINTMAX_C UINTMAX_MAX UINTPTR_MAX UINT_MAX ULLONG_MAX ULONG_MAX USHRT_MAX"
    " WCHAR_MAX WCHAR_MIN WEOF WINT_MAX WINT_MIN assert clock_t complex div_t errno fexcept_t fenv_t fpclassify fpos_t"
    " imaxdiv_t intmax_t intptr_t isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal "
    "isunordered"
    " jmp_buf ldiv_t lldiv_t math_errhandling max_align_t mbstate_t noreturn offsetof ptrdiff_t sig_atomic_t signbit"
    " signgam size_t stderr stdin stdout time_t tm uintmax_t uintptr_t va_arg va_copy va_end va_list va_start wctrans_t"
    " wctype_t wint_t ";

bool IsIn(std::string_view names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != names.npos;
}

// `word` without `end`, if it ends so.
bool Drop(std::string_view& word, std::string_view end) {
  if (!word.ends_with(end)) return false;
  word.remove_suffix(end.size());
  return true;
}

// int8_t, uint_fast16_t, INT_LEAST32_MAX, UINT64_C.
bool IsOfSizedIntegers(std::string_view name) {
  const bool macro = name.starts_with("INT") || name.starts_with("UINT");
  if (!macro && !name.starts_with("int") && !name.starts_with("uint")) return false;
  const bool whole = macro ? Drop(name, "_MAX") || Drop(name, "_MIN") || Drop(name, "_C") : Drop(name, "_t");
  if (!whole || !(Drop(name, "8") || Drop(name, "16") || Drop(name, "32") || Drop(name, "64"))) return false;
  static_cast<void>(Drop(name, macro ? "_LEAST" : "_least") || Drop(name, macro ? "_FAST" : "_fast"));
  return name == "int" || name == "uint" || name == "INT" || name == "UINT";
}

}  // namespace

bool IsReservedName(std::string_view name) {
  for (const std::string_view names : {kWords, kMath, kFunctions, kTypesAndMacros}) {
    if (IsIn(names, name)) return true;
  }
  const bool other_type = name.ends_with('f') || name.ends_with('l');
  return IsOfSizedIntegers(name) || (other_type && IsIn(kMath, name.substr(0, name.size() - 1)));
}

}}}  // namespace ricci::v0::cli
