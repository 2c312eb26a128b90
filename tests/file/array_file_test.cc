// Arrays in npy, npz and safetensors: what NumPy and others write is read, what is written reads back, every wrong byte
// is a status.
#include "file/array_file.h"

#include <gtest/gtest.h>

#include <random>

#include "file/deflate.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace file { namespace {

// As NumPy writes it: `dict` padded to a multiple of 64 bytes.
std::string Npy(std::string dict, const std::string& data) {
  dict.resize((dict.size() + 10 + 64) / 64 * 64 - 10, ' ');
  dict.back() = '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dict.size()) + '\0' + dict + data;
}
std::string Dict(const std::string& descr, const std::string& fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}
std::string Safetensors(const std::string& header, const std::string& data) {
  std::string size(8, '\0');
  size[0] = static_cast<char>(header.size());
  return size + header + data;
}
FileArray Some(uint32_t dtype, std::vector<int64_t> shape, const std::string& data, std::string name = "a") {
  FileArray a{std::move(name), dtype, std::move(shape), {}, {data.begin(), data.end()}};
  a.data = {a.own.data(), a.own.size()};
  return a;
}
std::string ErrorOf(const std::string& bytes) {
  const auto format = FormatOf(bytes, "f");
  if (!format.ok()) return std::string(format.status().message());
  return std::string(ReadArrays(*format, bytes, "f").status().message());
}
// The only array of a file, with its elements copied: `bytes` may be a temporary.
FileArray Only(const std::string& bytes) {
  auto read = ReadArrays(*FormatOf(bytes, "f"), bytes, "f");
  EXPECT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), 1);
  FileArray a = std::move((*read)[0]);
  a.own = std::vector<char>(a.data.begin(), a.data.end());
  a.data = {a.own.data(), a.own.size()};
  return a;
}

TEST(ArrayFile, NpyAsNumPyWritesIt) {
  const FileArray a = Only(Npy(Dict("<i2", "False", "(2, 3)"), std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12)));
  EXPECT_EQ(a.dtype, RICCI_I16);
  EXPECT_EQ(a.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(a.data, std::string_view("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  EXPECT_EQ(Only(Npy(Dict("|b1", "False", "()"), "\1")).shape, std::vector<int64_t>());
  EXPECT_EQ(Only(Npy(Dict("<c16", "True", "(0,)"), "")).dtype, RICCI_C128);
}

TEST(ArrayFile, FortranOrderAndBigEndianAreConverted) {
  const FileArray a = Only(Npy(Dict(">u2", "True", "(2, 3)"), std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12)));
  EXPECT_EQ(a.data, std::string_view("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  // The parts of a complex number are swapped separately.
  EXPECT_EQ(Only(Npy(Dict(">c8", "False", "(1,)"), "abcdefgh")).data, "dcbahgfe");
  EXPECT_EQ(Only(Npy(Dict("|u1", "True", "(2, 1, 2)"), "abcd")).data, "acbd");
}

// As numpy.save writes arrays of ml_dtypes.
TEST(ArrayFile, NpyOfNarrowFloats) {
  const FileArray a = Only(Npy(Dict("<V2", "False", "(2,)"), "abcd"));
  EXPECT_EQ(a.dtype, RICCI_BF16);
  EXPECT_EQ(a.data, "abcd");
  EXPECT_EQ(Only(Npy(Dict("|V2", "False", "(1,)"), "ab")).dtype, RICCI_BF16);
  EXPECT_EQ(Only(Npy(Dict("<f1", "False", "(3,)"), "abc")).dtype, RICCI_F8E5M2);
  const FileArray bf16 = Some(RICCI_BF16, {1}, "ab", ""), tiny = Some(RICCI_F8E5M2, {1}, "a", "");
  EXPECT_NE(WriteArrays(ArrayFormat::kNpy, {&bf16, 1})->find("'descr': '<V2'"), std::string::npos);
  EXPECT_EQ(WriteArrays(ArrayFormat::kNpy, {&tiny, 1}).status().message(),
            "npy has no elements of f8e5m2; safetensors has");
  const FileArray key = Some(RICCI_KEY, {1}, "abcdefgh", "0"), f4 = Some(RICCI_F4E2M1FN, {1}, "a", "0");
  EXPECT_EQ(WriteArrays(ArrayFormat::kNpy, {&key, 1}).status().message(), "npy has no elements of key");
  EXPECT_EQ(WriteArrays(ArrayFormat::kNpz, {&f4, 1}).status().message(), "npy has no elements of f4e2m1fn");
  EXPECT_EQ(WriteArrays(ArrayFormat::kSafetensors, {&key, 1}).status().message(),
            "safetensors has no elements of key (array 0)");
}

TEST(ArrayFile, WrongNpyIsNamed) {
  EXPECT_EQ(ErrorOf("nothing"), "f: not a file of arrays; known: npy, npz, safetensors");
  EXPECT_EQ(ErrorOf(Npy(Dict("<U3", "False", "(1,)"), "")), "f: elements of NumPy type `<U3` are not supported");
  EXPECT_EQ(ErrorOf(Npy(Dict("<V1", "False", "(1,)"), "a")),
            "f: elements of NumPy type `<V1` are not supported (f8e4m3fn, f8e8m0fnu and others are saved so: use "
            "safetensors for them)");
  EXPECT_EQ(ErrorOf(Npy(Dict("|V3", "False", "(1,)"), "abc")), "f: elements of NumPy type `|V3` are not supported");
  EXPECT_EQ(ErrorOf(Npy(Dict("<f4", "False", "(3, 2)"), "abcd")),
            "f: the file is damaged: an array is f32[3,2], and 4 bytes are there");
  EXPECT_EQ(ErrorOf(Npy(Dict("<f8", "False", "(4611686018427387904, 4611686018427387904)"), "abcd")),
            "f: the file is damaged: an array is f64[4611686018427387904,4611686018427387904], and 4 bytes are there");
  EXPECT_EQ(ErrorOf(Npy(Dict("<f4", "False", "(-1,)"), "abcd")),
            "f: the file is damaged: an array is f32[-1], and 4 bytes are there");
  EXPECT_EQ(ErrorOf(Npy(Dict("<f4", "Maybe", "(1,)"), "abcd")), "f: the file is damaged: its header cannot be read");
  EXPECT_EQ(ErrorOf(Npy(Dict("|b1", "False", "(2,)"), "\1\2")), "f: element 1 of a bool array is 2, not 0 or 1");
  EXPECT_EQ(ErrorOf(std::string("\x93NUMPY\x09\0\0\0", 10)), "f: version 9 of .npy is unknown");
}

TEST(ArrayFile, SafetensorsAsOthersWriteIt) {
  const std::string bytes =
      Safetensors(R"({"__metadata__":{"format":"p\u0074"},"b\"":{"dtype":"BF16","shape":[1,2],"data_offsets":[1,5]},)"
                  R"("a":{"dtype":"F8_E4M3","shape":[],"data_offsets":[0,1]}} )",
                  "1bcde");
  const auto read = ReadArrays(*FormatOf(bytes, "f"), bytes, "f");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2);
  EXPECT_EQ((*read)[0].name, "b\"");
  EXPECT_EQ((*read)[0].dtype, RICCI_BF16);
  EXPECT_EQ((*read)[0].data, "bcde");
  EXPECT_EQ((*read)[1].dtype, RICCI_F8E4M3FN);
}

TEST(ArrayFile, WrongSafetensorsIsNamed) {
  const auto error = [](const std::string& tensor, const std::string& data) {
    return ErrorOf(Safetensors("{\"a\":{" + tensor + "}}", data));
  };
  EXPECT_EQ(error(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])", "1"),
            "f: tensor a has elements of type `F4`, which is not supported");
  EXPECT_EQ(error(R"("dtype":"U8","shape":[2],"data_offsets":[0,9])", "1"),
            "f: the file is damaged: tensor a is outside of it");
  EXPECT_EQ(error(R"("dtype":"U8","shape":[1],"data_offsets":[0,2])", "12"),
            "f: the file is damaged: tensor a takes 1 bytes, its offsets give it 2");
  EXPECT_EQ(error(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", "12"),
            "f: the file is damaged: its tensors do not cover it");
  EXPECT_EQ(error(R"("dtype":"U8","shape":[-1],"data_offsets":[1,2])", "12"),
            "f: the file is damaged: its header cannot be read");
}

// All that a format has is written and read back, with the same bytes for the same arrays.
TEST(ArrayFile, RoundTrips) {
  for (const ArrayFormat format : {ArrayFormat::kNpy, ArrayFormat::kNpz, ArrayFormat::kSafetensors}) {
    int written = 0;
    for (uint32_t dtype = RICCI_BOOL; dtype <= RICCI_KEY; ++dtype) {
      const FileArray a = Some(dtype, {1, 3}, std::string(3 * types::Info(dtype).size, '\1'), "\"\n\\x");
      const auto bytes = WriteArrays(format, {&a, 1});
      if (!bytes.ok()) {
        EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
        continue;
      }
      ++written;
      EXPECT_EQ(*FormatOf(*bytes, "f"), format);
      const FileArray b = Only(*bytes);
      EXPECT_EQ(b.dtype, dtype);
      EXPECT_EQ(b.shape, a.shape);
      EXPECT_EQ(b.data, a.data);
      EXPECT_EQ(b.name, format == ArrayFormat::kNpy ? "" : a.name);
      EXPECT_EQ(*WriteArrays(format, {&b, 1}), *bytes);
    }
    EXPECT_EQ(written, format == ArrayFormat::kSafetensors ? 17 : 15);
  }
}

TEST(ArrayFile, WrongListsAreRefused) {
  const FileArray list[] = {Some(RICCI_U8, {1}, "x", "w"), Some(RICCI_U8, {1}, "y", "w"), Some(RICCI_U8, {1}, "y", "")};
  EXPECT_EQ(WriteArrays(ArrayFormat::kNpz, list).status().message(), "arrays 0 and 1 are both named w");
  EXPECT_EQ(WriteArrays(ArrayFormat::kNpz, {list + 2, 1}).status().message(), "array 0 has no name");
  EXPECT_EQ(WriteArrays(ArrayFormat::kNpy, {list, 2}).status().message(), "npy holds one array, not 2");
  EXPECT_EQ(FormatByEnding("x.txt").status().message(),
            "x.txt: the ending does not name a format; known: .npy, .npz, .safetensors");
}

// savez_compressed(w=arange(6, dtype=float32).reshape(2, 3), b=[True, False], z=zeros(300, int64)) of NumPy 2.4.
constexpr std::string_view kCompressed =
    "504b03042d0000000800000021004fe9002affffffffffffffff05001400772e6e707901001000980000000000000055000000000000009b"
    "ec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a"
    "463a0ac69a3a0ab50a64032e063068b007120e4004c40d40bcc00100504b03042d000000080000002100ee19bb5dffffffffffffffff0500"
    "1400622e6e707901001000820000000000000046000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3a09e"
    "965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e460600504b03042d000000080000002100c4"
    "895dc8ffffffffffffffff050014007a2e6e707901001000e00900000000000058000000000000009bec17ea1b10c9c850c650ad9e925a9c"
    "5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac606063a9a3a0ab50a64032e865130"
    "0a46c1281805a360148c825140550000504b01022d032d0000000800000021004fe9002a5500000098000000050000000000000000000000"
    "800100000000772e6e7079504b01022d032d000000080000002100ee19bb5d460000008200000005000000000000000000000080018c0000"
    "00622e6e7079504b01022d032d000000080000002100c4895dc858000000e00900000500000000000000000000008001090100007a2e6e70"
    "79504b0506000000000300030099000000980100000000";
std::string Compressed() {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i < kCompressed.size(); i += 2) {
    out += static_cast<char>(digit(kCompressed[i]) * 16 + digit(kCompressed[i + 1]));
  }
  return out;
}
// Its `what`th number of 32 bits in the first line of the directory: 0 the checksum, 1 the packed size, 2 the size.
std::string CompressedWith(int what, uint32_t value) {
  std::string out = Compressed();
  std::memcpy(out.data() + out.find("PK\x01\x02") + 16 + 4 * what, &value, sizeof value);
  return out;
}

TEST(ArrayFile, DeflatedNpzAsNumPyWritesIt) {
  if (!CanInflate()) GTEST_SKIP() << "no zlib";
  const std::string bytes = Compressed();
  const auto read = ReadArrays(*FormatOf(bytes, "f"), bytes, "f");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 3);
  EXPECT_EQ((*read)[0].name, "w");
  EXPECT_EQ((*read)[0].shape, (std::vector<int64_t>{2, 3}));
  for (size_t i = 0; i < 6; ++i) {
    float element = -1;
    std::memcpy(&element, (*read)[0].data.data() + 4 * i, 4);
    EXPECT_EQ(element, static_cast<float>(i));
  }
  EXPECT_EQ((*read)[1].dtype, RICCI_BOOL);
  EXPECT_EQ((*read)[1].data, std::string_view("\1\0", 2));
  EXPECT_EQ((*read)[2].data, std::string(300 * 8, '\0'));
}

TEST(ArrayFile, WrongDeflatedNpzIsNamed) {
  if (!CanInflate()) GTEST_SKIP() << "no zlib";
  const std::string damaged = "f: the file is damaged: w.npy ";
  EXPECT_EQ(ErrorOf(CompressedWith(0, 1)), damaged + "does not have its checksum");
  EXPECT_EQ(ErrorOf(CompressedWith(1, 84)), damaged + "is not 152 bytes in deflated form");  // cut short
  EXPECT_EQ(ErrorOf(CompressedWith(1, 86)), damaged + "is not 152 bytes in deflated form");  // and more after it
  EXPECT_EQ(ErrorOf(CompressedWith(1, 600)), damaged + "is outside of it");
  EXPECT_EQ(ErrorOf(CompressedWith(2, 151)), damaged + "is not 151 bytes in deflated form");
  EXPECT_EQ(ErrorOf(CompressedWith(2, 0)), damaged + "is not 0 bytes in deflated form");
  // 85 bytes are never the deflated form of so much, so it gets no memory.
  EXPECT_EQ(ErrorOf(CompressedWith(2, 4000000000)), damaged + "is not 4000000000 bytes in deflated form");
}

// A bomb of files that share their bytes: each is within what deflate can save, all together are not.
TEST(ArrayFile, FilesThatOverlapAreRefused) {
  if (!CanInflate()) GTEST_SKIP() << "no zlib";
  std::string bytes = Compressed();
  const size_t first = bytes.find("PK\x01\x02"), end = bytes.rfind("PK\x05\x06");
  const std::string line = bytes.substr(first, 46 + 5);  // the directory's, of w.npy
  std::string bomb = bytes.substr(0, first), tail = bytes.substr(end);
  for (int i = 0; i < 20; ++i) bomb += line;
  tail[8] = tail[10] = 20;
  const uint32_t size = 20 * line.size();
  std::memcpy(tail.data() + 12, &size, sizeof size);
  EXPECT_EQ(ErrorOf(bomb + tail), "f: the file is damaged: its files overlap");
}

TEST(ArrayFile, OtherFormsOfArchivesAreRefused) {
  const FileArray a = Some(RICCI_U8, {1}, "x");
  const std::string zip = *WriteArrays(ArrayFormat::kNpz, {&a, 1});
  const auto with = [&](size_t at, std::string_view bytes) {
    std::string out = zip;
    out.replace(zip.find("PK\x01\x02") + at, bytes.size(), bytes);
    return out;
  };
  EXPECT_EQ(ErrorOf(with(10, "\x0c")),
            "f: a.npy is compressed by method 12, which is not supported; "
            "write it with numpy.savez or numpy.savez_compressed");
  EXPECT_EQ(ErrorOf(with(8, "\x01")), "f: a.npy is encrypted");
  EXPECT_EQ(ErrorOf(with(24, "\xff\xff\xff\xff")),
            "f: a.npy is in the zip64 form, for archives of more than 4 GB, which is not supported; use safetensors");
  EXPECT_EQ(ErrorOf(with(10, "\x08")),
            CanInflate() ? "f: the file is damaged: a.npy is not 129 bytes in deflated form"
                         : "f: a.npy is deflated, and this build has no zlib to read it; write it with numpy.savez");
}

// Any byte may be wrong, and a file may end anywhere.
TEST(ArrayFile, EveryByteMayBeWrong) {
  const FileArray list[] = {Some(RICCI_F32, {2, 2}, std::string(16, 'x'), "w"), Some(RICCI_BOOL, {2}, "\1\1", "b")};
  const std::string files[] = {*WriteArrays(ArrayFormat::kNpy, {list, 1}), *WriteArrays(ArrayFormat::kNpz, list),
                               *WriteArrays(ArrayFormat::kSafetensors, list), Compressed()};
  std::mt19937 random(1);
  for (const std::string& bytes : files) {
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (int i = 0; i < 4; ++i) {
        std::string wrong = bytes;
        wrong[at] = static_cast<char>(i == 0 ? 0xff : random());
        ErrorOf(wrong);
      }
      EXPECT_NE(ErrorOf(bytes.substr(0, at)), "") << at;
    }
  }
}

}}}}  // namespace ricci::v0::file::(anonymous)
