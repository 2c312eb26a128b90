# Tests of the package against an installed library: RICCI_PREFIX=... julia --project -e 'using Pkg; Pkg.test()'
using Ricci
using Test

const f32(x) = Float32.(x)

@testset "compiled functions" begin
    f = jit((x, w) -> sum(sin.(w * x) .^ 2))
    w, x = f32([1 2; 3 4; 5 6]), f32([0.1, 0.2])
    @test f(x, w) ≈ sum(sin.(w * x) .^ 2)
    twice = jit(a -> 2 .* a)
    @test twice(w) == 2 .* w # a matrix keeps its dimensions
    @test twice(w') == 2 .* w' # one by rows is copied
    @test twice(view(w, 1:2, :)) == 2 .* w[1:2, :]
    @test jit((a, b) -> a .- b)(w, f32([1, 2, 3])) == w .- [1, 2, 3]
    @test jit(a -> reshape(a, 2, :))(w) == reshape(w, 2, :)
    @test jit(a -> a[2:3, 1])(w) == w[2:3, 1]
    @test jit(a -> sum(a; dims = 1))(w) == sum(w; dims = 1)
    @test jit(a -> (y -> y * y + 1).(a))(w) == w .^ 2 .+ 1 # no primitive: mapped over the elements
end

@testset "derivatives" begin
    g = grad(x -> sum(x .^ 3))
    @test g(f32([1 2; 3 4])) ≈ 3 .* f32([1 2; 3 4]) .^ 2
    value, slope = value_and_grad((p, t) -> sum(p.a .* t) + p.b)((a = f32([1, 2]), b = 3f0), f32([4, 5]))
    @test value ≈ 17 && slope.a ≈ [4, 5] && slope.b ≈ 1
    y, dy = jvp(x -> x .* x, (f32([1, 2]),), (f32([1, 0]),))
    @test y ≈ [1, 4] && dy ≈ [2, 0]
    @test grad(x -> grad(sin)(x) * x)(0.5) ≈ cos(0.5) - 0.5 * sin(0.5)
end

@testset "batches and loops" begin
    a = f32([1 2 3; 4 5 6])
    @test vmap(sum)(a) ≈ vec(sum(a; dims = 1))
    @test vmap(sum; dims = (1,))(a) ≈ vec(sum(a; dims = 2))
    last_one, all = jit(x -> scan((c, v) -> (c + v, c * v), 0f0, x))(f32([1, 2, 3]))
    @test last_one == 6 && all == [0, 2, 9]
    halve = jit(x -> while_loop(v -> v > 1, v -> v / 2, x))
    @test halve(10.0) == 0.625
    choose = jit(x -> cond(x > 0, v -> v * 2, v -> -v, x))
    @test choose(3.0) == 6 && choose(-3.0) == 3
end

@testset "data on a device" begin
    d = DeviceArray(f32([1 2; 3 4]))
    @test Array(d) == [1 2; 3 4]
    @test Array(jit(x -> x * x)(d)) == [1 2; 3 4]^2
end

@testset "mistakes" begin
    failure = try
        trace((x, y) -> Ricci.emit("add", [x, y], 1), Float32 => (3,), Float32 => (4,))
    catch e
        e
    end
    @test failure isa Failure && failure.operation == "add" && failure.line > 0
    @test occursin("runtests.jl", failure.message)
    @test_throws Failure jit((x, y) -> x + y)(f32([1, 2]), f32([1, 2, 3]))
    @test_throws Failure trace(x -> sin(x), Float32 => (3,))
end

@testset "a primitive in Julia" begin
    c = Context()
    cube = Primitive((t, _) -> t, (x, _) -> [x[1] .* x[1] .* x[1]]; name = "demo.cube", doc = "y = demo.cube(x): x^3",
                     examples = "(f64[3])")
    refused = Primitive((t, _) -> error("never"), (x, _) -> x; name = "demo.never", doc = "y = demo.never(x): nothing")
    add_primitives!(c, "demo", [cube, refused])
    f = x -> sum(only(Ricci.emit("demo.cube", [x], 1)))
    code = compile(trace(grad(f), Float64 => (3,); context = c))
    @test only(code([1.0, 2.0, 3.0])) ≈ [3, 12, 27]
    @test_throws Failure trace(x -> Ricci.emit("demo.never", [x], 1), Float64 => (); context = c)
end
